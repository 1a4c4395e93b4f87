// What an MCP client keeps of OAuth, as both SDKs want it: in memory, and the
// redirect goes to the test, which is the browser.
export class Memory {
  constructor({ redirect, scope }) {
    this.redirectUrl = redirect;
    this.scope = scope;
    this.redirects = [];
    this.registrations = 0;
  }

  get clientMetadata() {
    return {
      client_name: "A coding agent",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(this.scope && { scope: this.scope }),
    };
  }

  state() {
    this.lastState = crypto.randomUUID();
    return this.lastState;
  }

  clientInformation() {
    return this.client;
  }

  saveClientInformation(client) {
    this.registrations++;
    this.client = client;
  }

  tokens() {
    return this.kept;
  }

  saveTokens(tokens) {
    this.kept = tokens;
  }

  redirectToAuthorization(url) {
    this.redirects.push(String(url));
  }

  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }

  codeVerifier() {
    return this.verifier;
  }

  discoveryState() {
    return this.discovery;
  }

  saveDiscoveryState(state) {
    this.discovery = state;
  }

  invalidateCredentials(what) {
    if (what === "all" || what === "tokens") delete this.kept;
    if (what === "all" || what === "client") delete this.client;
  }
}

// commands are what a test does with a client, whose SDK makes its two parts.
export function commands({ memory, transportOf, clientOf, call, unauthorized }) {
  let client, transport;
  // connect says whether it is in. If not, somebody has to go where it was sent to.
  async function connect() {
    transport = transportOf();
    client = clientOf();
    try {
      await client.connect(transport);
      return { in: true };
    } catch (error) {
      if (!(error instanceof unauthorized)) throw error;
      return { in: false, redirect: memory.redirects.at(-1) };
    }
  }
  return {
    connect,
    // finish is what a client does with the address that the browser came back to.
    finish: async ({ callback }) => {
      const back = new URL(callback).searchParams;
      if (back.get("state") !== memory.lastState) throw new Error("a foreign state");
      await transport.finishAuth(back.get("code"), back.get("iss") ?? undefined);
      return connect();
    },
    about: () => ({ tokens: memory.kept, client: memory.client, redirects: memory.redirects, registrations: memory.registrations }),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async ({ tool, input, timeout }) => call(client, { name: tool, arguments: input }, { timeout }),
  };
}
