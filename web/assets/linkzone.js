// The page of a link is loaded again if its times are in another zone than the times of the browser. The address
// names the zone, because the page of a link stores nothing in the browser.
{
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const shown = document.documentElement.dataset.zone;
  if (zone && shown && zone !== shown && location.search === "" && document.querySelector("time"))
    location.replace(`?zone=${encodeURIComponent(zone)}`);
}
