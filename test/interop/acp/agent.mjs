// agent.mjs is an agent. In each turn, it asks for the permission of one command, and sends the outcome to the
// editor as its message.
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.argv[2] + '/');
const acp = await import(pathToFileURL(require.resolve('@agentclientprotocol/sdk')).href);
const { agent, client } = acp.methods;

let calls = 0;
acp
  .agent({ name: 'probe' })
  .onRequest(agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: 'probe', version: '1' },
    agentCapabilities: {},
  }))
  .onRequest(agent.session.new, () => ({ sessionId: 'session' }))
  .onRequest(agent.session.prompt, async ({ params, client: editor }) => {
    const outcome = await editor.request(client.session.requestPermission, {
      sessionId: params.sessionId,
      toolCall: {
        toolCallId: `call_${++calls}`,
        title: 'Delete the logs',
        kind: 'delete',
        rawInput: { path: '/logs' },
      },
      options: [
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'once', name: 'Once', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    });
    await editor.notify(client.session.update, {
      sessionId: params.sessionId,
      update: {
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text: `${outcome.outcome.outcome} ${outcome.outcome.optionId}` },
      },
    });
    return { stopReason: 'end_turn' };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
