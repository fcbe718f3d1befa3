// npm run demo -- [FILE] [--rounds N]: sends a file to another process over queuepair and over
// node:net, then plays ping-pong over both. Without FILE it sends the node executable.
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { type Connection, type Listener, openEngine } from 'queuepair';
import { hashFile } from './hash-file.js';
import { type Measurement, measure, type Source } from './measure.js';
import { NetLink } from './net-link.js';
import { QueuepairLink } from './queuepair-link.js';
import { printReport } from './report.js';
import { Supervisor } from './supervise.js';

async function readSource(path: string): Promise<Source> {
  const { size } = await stat(path).then((stats) => {
    if (stats.isFile()) return stats;
    throw new Error(`${path} is not a regular file`);
  });
  // Hashing reads all of it once, so that both transports find it in the page cache.
  return { path, byteLength: size, sha256: await hashFile(path) };
}

async function firstConnection(listener: Listener): Promise<Connection> {
  for await (const request of listener) return request.accept();
  throw new Error('The listener was closed');
}

async function overNet(server: Server, source: Source, rounds: number): Promise<Measurement> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  try {
    return await measure(NetLink.accepted(socket), source, rounds);
  } finally {
    server.close();
  }
}

async function main(path: string, rounds: number): Promise<void> {
  const source = await readSource(path);
  console.log(`sender (process ${process.pid}): ${path}, ${source.byteLength} bytes`);
  console.log(`sender (process ${process.pid}): SHA-256 ${source.sha256.toString('hex')}`);

  const engine = await openEngine();
  const listener = await engine.listen({ port: 0 });
  const server = createServer().listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const job = {
    queuepairPort: listener.address.port,
    netPort: (server.address() as AddressInfo).port,
    fileBytes: source.byteLength,
    rounds,
  };
  await new Supervisor().run(job, async () => {
    const netMeasured = overNet(server, source, rounds);
    netMeasured.catch(() => {});
    const link = await QueuepairLink.open(engine, await firstConnection(listener));
    const queuepair = await measure(link, source, rounds);
    printReport({ fileBytes: source.byteLength, rounds, queuepair, net: await netMeasured });
  });
}

function readArguments(): [path: string, rounds: number] {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '100000' } },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || positionals.length > 1) {
    throw new Error('Usage: npm run demo -- [FILE] [--rounds N]');
  }
  return [positionals[0] ?? process.execPath, rounds];
}

try {
  await main(...readArguments());
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
