// The OAuth state of an MCP client for both SDKs, in memory. Redirects go to
// the test.
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

// commands are the commands of a test. Each SDK creates the transport and the
// client.
export function commands({ memory, transportOf, clientOf, call, unauthorized }) {
  let client, transport;
  // connect reports whether the client is connected, or else the address
  // where its user signs in.
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
    // finish handles the address to which the browser was
    // redirected.
    finish: async ({ callback }) => {
      const back = new URL(callback).searchParams;
      if (back.get("state") !== memory.lastState) throw new Error("a foreign state");
      await transport.finishAuth(back.get("code"), back.get("iss") ?? undefined);
      return connect();
    },
    about: () => ({
      tokens: memory.kept,
      client: memory.client,
      redirects: memory.redirects,
      registrations: memory.registrations,
    }),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async ({ tool, input, timeout }) => call(client, { name: tool, arguments: input }, { timeout }),
  };
}
