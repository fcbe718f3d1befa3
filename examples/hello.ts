// One program as server and client: a message there, an answer back.
import { openEngine } from 'queuepair';

const engine = await openEngine();
try {
  const listener = await engine.listen({ host: '127.0.0.1', port: 0 });
  const memory = await engine.allocate(3 * 64); // bytes; operations take slices of it
  const question = memory.subarray(0, 20);
  const heard = memory.subarray(64, 128);
  const answer = memory.subarray(128, 192);

  const serve = async () => {
    for await (const request of listener) {
      const connection = await request.accept();
      const { bytes } = await connection.receive(heard);
      console.log(`server: ${Buffer.from(bytes)}`);
      await connection.send(Buffer.from('Hello to you.')); // a byte array is copied
      await connection.closed;
      break;
    }
  };

  const ask = async () => {
    const connection = await engine.connect({ port: listener.address.port });
    const received = connection.receive(answer); // posted before the message comes
    question.bytes.set(Buffer.from('Hello, who is there?'));
    await connection.send(question);
    const { bytes, byteLength } = await received;
    console.log(`client: ${Buffer.from(bytes)} (${byteLength} bytes)`);
    await connection.close();
  };

  await Promise.all([serve(), ask()]);
} finally {
  await engine.close();
}
