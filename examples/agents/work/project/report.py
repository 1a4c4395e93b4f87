import old_api


def report(day):
    return [row.total for row in old_api.fetch(day)]
