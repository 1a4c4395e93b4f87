// The issuer: the OpenID provider "oidc-provider" on loopback. Accounts sign in
// with their name only. Tests can sign tokens with its key that the provider
// would not issue.
import { createHmac, generateKeyPairSync, sign as signed } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";
import { drive, server as setup } from "./drive.mjs";

console.info = console.error; // lines on stdout are replies

// The keys are new at each start.
const rsa = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
const [own, foreign] = [rsa(), rsa()];
const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" });
const kid = { rsa: `rsa-${Date.now()}`, elliptic: `ec-${Date.now()}` };
const jwk = (key, more) => ({ ...key.export({ format: "jwk" }), use: "sig", ...more });

// All requested resources are accepted; Askback checks its own.
const resourceIndicators = {
  enabled: true,
  defaultResource: (ctx, client, oneOf) => oneOf,
  getResourceServerInfo: (ctx, resource) => ({
    scope: "",
    audience: resource,
    accessTokenFormat: "jwt",
    accessTokenTTL: setup.accessTokenTTL,
    jwt: { sign: { alg: setup.alg } },
  }),
};

const provider = new Provider(setup.issuer, {
  jwks: {
    keys: [
      jwk(own.privateKey, { kid: kid.rsa, alg: "RS256" }),
      jwk(elliptic.privateKey, { kid: kid.elliptic, alg: "ES256" }),
    ],
  },
  clients: setup.clients,
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  // According to the specification, claims of scopes are at the userinfo
  // endpoint.
  conformIdTokenClaims: !setup.claimsInIDToken,
  cookies: { keys: ["a key of a test"] },
  features: { devInteractions: { enabled: false }, registration: { enabled: true }, resourceIndicators },
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (ctx, id) => {
    const account = Object.values(setup.accounts).find((one) => one.sub === id);
    return account && { accountId: id, claims: () => account };
  },
});

const page = (title, body) =>
  `<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width">` +
  `<title>${title}</title><main><h1>${title}</h1>${body}</main></html>`;
const logIn = page(
  "Issuer: who are you?",
  `<form method="post"><input name="login" autofocus> <button>Sign in</button></form>`,
);
const agree = page(
  "Issuer: do you agree?",
  `<form method="post"><input type="hidden" name="agree" value="yes"><button>Agree</button></form>
  <form method="post"><input type="hidden" name="agree" value="no"><button class="refuse">Refuse</button></form>`,
);

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return new URLSearchParams(Buffer.concat(parts).toString());
}

// granted returns a grant for everything that the client requested.
async function granted({ grantId, session, params, prompt: { details } }) {
  const grant =
    (grantId && (await provider.Grant.find(grantId))) ||
    new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope.join(" "));
  if (details.missingOIDCClaims) grant.addOIDCClaims(details.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {}))
    grant.addResourceScope(resource, scopes.join(" "));
  return { consent: { grantId: await grant.save() } };
}

async function interaction(request, response) {
  const details = await provider.interactionDetails(request, response);
  if (request.method === "GET") {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    return response.end(details.prompt.name === "login" ? logIn : agree);
  }
  const form = await body(request);
  const account = setup.accounts[form.get("login")];
  const result =
    form.get("agree") === "yes"
      ? await granted(details)
      : account
        ? { login: { accountId: account.sub } }
        : { error: "access_denied", error_description: "<b>the person</b> refused" };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: !result.error });
}

// The number of requests by path.
const seen = {};

const pages = provider.callback();
createServer((request, response) => {
  const path = request.url.split("?")[0];
  seen[path] = (seen[path] ?? 0) + 1;
  if (!request.url.startsWith("/interaction/")) return pages(request, response);
  interaction(request, response).catch((error) => {
    console.error(error);
    response.statusCode = 500;
    response.end(String(error));
  });
}).listen(setup.port, "127.0.0.1", () => console.error("the issuer listens"));

// The keys and algorithms for signatures.
const pem = own.publicKey.export({ type: "spki", format: "pem" });
const signers = {
  own: (data) => signed("sha256", data, own.privateKey),
  elliptic: (data) => signed("sha256", data, { key: elliptic.privateKey, dsaEncoding: "ieee-p1363" }),
  foreign: (data) => signed("sha256", data, foreign.privateKey),
  none: () => Buffer.alloc(0),
  // The public key, used as a shared secret.
  pem: (data) => createHmac("sha256", pem).update(data).digest(),
};

function sign({ claims, header, by = "own" }) {
  const base64 = (v) => Buffer.from(JSON.stringify(v)).toString("base64url");
  const head = { alg: "RS256", typ: "at+jwt", kid: kid.rsa, ...header };
  if (head.jwk) head.jwk = jwk(foreign.publicKey, { kid: head.kid, alg: "RS256" });
  if (by === "elliptic") Object.assign(head, { alg: "ES256", kid: kid.elliptic });
  const data = `${base64(head)}.${base64(claims)}`;
  return `${data}.${signers[by](data).toString("base64url")}`;
}

drive({ sign, seen: () => seen });
