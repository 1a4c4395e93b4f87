// The service worker shows a page when there is no connection. Everything works without it.
if ("serviceWorker" in navigator) {
  addEventListener("load", () => {
    navigator.serviceWorker.register(policy.createScriptURL("/sw.js"), { updateViaCache: "none" }).catch(() => {});
  });
}
