// Loops over a listener: each request goes to one of them, and leaving loses none.
import { beforeEach, describe, expect, it } from 'vitest';
import { RequestIterator } from '../../src/api/request-iterator.js';
import type { RequestCore } from '../../src/engine/connection-request.js';
import type { EngineCore } from '../../src/engine/engine-core.js';
import { KeepAlive } from '../../src/engine/keep-alive.js';
import { ListenerCore } from '../../src/engine/listener-core.js';

let listener: ListenerCore;
let alive: number;

beforeEach(() => {
  alive = 0;
  const keepAlive = new KeepAlive((is) => {
    alive += is ? 1 : -1;
  });
  listener = new ListenerCore({ slot: 0, generation: 1 }, keepAlive, () => listener.onClosed());
});

/** Told apart by their ports. */
function request(port: number): RequestCore {
  const part = {
    peer: { host: '127.0.0.1', port },
    take: () => {},
    connection: { reject: () => {} },
  };
  return part as unknown as RequestCore;
}

function loop(): RequestIterator {
  return new RequestIterator(listener, {} as EngineCore, {} as never);
}

async function port(next: ReturnType<RequestIterator['next']>): Promise<number | 'end'> {
  const { done, value } = await next;
  return done ? 'end' : value.peer.port;
}

describe('a loop over requests', () => {
  it('gives them in order, those that came before it as well', async () => {
    listener.push(request(1));
    const requests = loop();
    listener.push(request(2));
    const ports = [port(requests.next()), port(requests.next()), port(requests.next())];
    listener.push(request(3));
    expect(await Promise.all(ports)).toEqual([1, 2, 3]);
  });

  it('ends when the listener is closed', async () => {
    const requests = loop();
    const waiting = port(requests.next());
    await listener.close();
    expect([await waiting, await port(requests.next())]).toEqual(['end', 'end']);
    expect(alive).toBe(0);
  });

  it('refuses a request that comes back when the listener is closed', async () => {
    await listener.close();
    const late = request(1);
    const answers: string[] = [];
    late.take = (answer) => answers.push(answer);
    listener.putBack(late);
    expect(answers).toEqual(['rejected']);
    expect(await listener.next()).toBeUndefined();
  });

  it('ends at once when it is left, and leaves the listener open', async () => {
    const requests = loop();
    const waiting = [port(requests.next()), port(requests.next())];
    expect(await port(requests.return())).toBe('end');
    expect(await Promise.all(waiting)).toEqual(['end', 'end']);
    expect(await port(requests.next())).toBe('end');
    expect(listener.listening).toBe(true);
  });

  it('loses no request when it is left while one is on its way', async () => {
    const left = loop();
    const waiting = port(left.next());
    listener.push(request(1));
    await left.return();
    expect(await waiting).toBe('end');
    listener.push(request(2));
    const other = loop();
    expect([await port(other.next()), await port(other.next())]).toEqual([1, 2]);
  });

  it('hands what comes for a loop that was left to one that waits', async () => {
    const left = loop();
    void left.next();
    const other = loop();
    const waiting = port(other.next());
    await left.return();
    listener.push(request(7));
    expect(await waiting).toBe(7);
  });

  it('takes turns with other loops', async () => {
    const loops = [loop(), loop()];
    const waiting = [0, 1, 0, 1].map((index) => port((loops[index] as RequestIterator).next()));
    for (const number of [1, 2, 3, 4]) listener.push(request(number));
    expect(await Promise.all(waiting)).toEqual([1, 2, 3, 4]);
  });

  it('is what for await uses, break included', async () => {
    for (const number of [1, 2, 3]) listener.push(request(number));
    const seen: number[] = [];
    for await (const { peer } of loop()) {
      seen.push(peer.port);
      if (seen.length === 2) break;
    }
    expect([...seen, await port(loop().next())]).toEqual([1, 2, 3]);
  });
});
