"""Deprecated: use new_api.rows."""

import new_api


def fetch(day):
    return new_api.rows(day)
