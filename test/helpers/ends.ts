// The two ends of a connection wherever they live, behind one interface.
import { type EngineOptions, openEngine, type PollingMode } from 'queuepair';

import { End, type EndApi } from './end.mjs';
import { connectEngines } from './pair.js';
import { connectPeer, type Peer } from './peer.js';

export const pollingModes: readonly PollingMode[] = ['adaptive', 'spin', 'event'];
export const topologies = ['one engine', 'two engines', 'two processes'] as const;
export type Topology = (typeof topologies)[number];

/** Every polling mode with every topology. */
export const everyway: { polling: PollingMode; topology: Topology }[] = pollingModes.flatMap(
  (polling) => topologies.map((topology) => ({ polling, topology })),
);

export interface Ends {
  readonly a: EndApi;
  readonly b: EndApi;
  /** Closes everything, in order. */
  close(): Promise<void>;
}

/** Stands for an end in another process. */
function remoteEnd(peer: Peer, index: number): EndApi {
  const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
    peer.call('end', index, method, ...args);
  return {
    send: (spec) => call('send', spec),
    receive: (spec) => call('receive', spec),
    stream: (spec) => call('stream', spec),
    close: () => call('close'),
  };
}

async function openInTwoProcesses(options: EngineOptions): Promise<Ends> {
  const engine = await openEngine(options);
  const { peer, connection, index } = await connectPeer(engine, options);
  return {
    a: new End(engine, connection),
    b: remoteEnd(peer, index),
    async close() {
      await connection.close();
      await engine.close();
      await peer.finish();
    },
  };
}

/** The caller closes them; not bound to a test. */
export async function openEnds(polling: PollingMode, topology: Topology): Promise<Ends> {
  if (topology === 'two processes') return openInTwoProcesses({ polling });
  const active = await openEngine({ polling });
  const passive = topology === 'one engine' ? active : await openEngine({ polling });
  const [a, b] = await connectEngines(active, passive);
  return {
    a: new End(active, a),
    b: new End(passive, b),
    async close() {
      await a.close();
      await b.close();
      await active.close();
      await passive.close();
    },
  };
}
