// editor.mjs is an editor. Its arguments are the folder of the packages, and the command of an agent. It
// runs two turns.
// Each line of standard input is the option to choose in its dialog. It writes each event on one line.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.argv[2] + '/');
const acp = await import(pathToFileURL(require.resolve('@agentclientprotocol/sdk')).href);
const { agent, client } = acp.methods;
const report = (...words) => console.log(words.join(' '));

const chosen = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const [, , , program, ...args] = process.argv;
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
child.on('exit', (code) => report('exit', code));

await acp.client({ name: 'editor' })
  .onRequest(client.session.requestPermission, async ({ params, signal }) => {
    report('dialog', params.toolCall.title);
    const closed = new Promise((resolve) => { signal.addEventListener('abort', () => resolve(null)); });
    const line = await Promise.race([chosen.next(), closed]);
    if (line === null) {
      report('closed');
      return { outcome: { outcome: 'cancelled' } };
    }
    return { outcome: { outcome: 'selected', optionId: line.value } };
  })
  .onNotification(client.session.update, ({ params }) => report('message', params.update.content.text))
  .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (ctx) => {
    await ctx.request(agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await ctx.request(agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    for (let turn = 0; turn < 3; turn++) {
      const { stopReason } = await ctx.request(agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: 'Do it.' }],
      });
      report('turn', stopReason);
    }
  });
child.stdin.end();
process.stdin.destroy();
