// Lets Node import JSON without an attribute, as the packages do.
export function load(url, context, next) {
  if (url.endsWith(".json")) context = { ...context, importAttributes: { type: "json" } };
  return next(url, context);
}
