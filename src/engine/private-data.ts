// The four bytes before private data, so that the peer gets exactly what was sent: the networks pad
// it, and say only the padded length.
//
//   byte 0     magic
//   byte 1     version in the high half, the connection's mode in the low half
//   byte 2, 3  length, little-endian
import { RdmaError } from './errors.js';

const kMagic = 0x71; // "q"
const kVersion = 1;
export const kFrameBytes = 4;

/** Payload limits on every provider: what InfiniBand carries (56, 196, 148), less the frame. */
export const kPrivateDataLimits = { connect: 52, accept: 192, reject: 144 } as const;

/** How the two ends use the connection; both must mean the same. */
export type ConnectionMode = 'raw';
const modes: readonly ConnectionMode[] = ['raw'];

/** `queuepair`: framed as above. `raw`: bytes as they are, for peers that are not this library. */
export type PrivateDataFormat = 'queuepair' | 'raw';

export interface PrivateData {
  readonly mode: ConnectionMode;
  readonly bytes: Uint8Array;
}

export function encodePrivateData(
  bytes: Uint8Array,
  format: PrivateDataFormat,
  mode: ConnectionMode,
): Uint8Array {
  if (format === 'raw') return bytes;
  const framed = new Uint8Array(kFrameBytes + bytes.byteLength);
  framed[0] = kMagic;
  framed[1] = (kVersion << 4) | modes.indexOf(mode);
  framed[2] = bytes.byteLength & 0xff;
  framed[3] = bytes.byteLength >>> 8;
  framed.set(bytes, kFrameBytes);
  return framed;
}

/** Throws ERR_RDMA_PROTOCOL for what encodePrivateData() did not make. */
export function decodePrivateData(framed: Uint8Array, format: PrivateDataFormat): PrivateData {
  if (format === 'raw') return { mode: 'raw', bytes: framed };
  const length = (framed[2] ?? 0) | ((framed[3] ?? 0) << 8);
  const version = (framed[1] ?? 0) >>> 4;
  const mode = modes[(framed[1] ?? 0) & 0x0f];
  if (framed.byteLength < kFrameBytes || framed[0] !== kMagic) {
    throw protocolError('does not begin with this library’s frame');
  }
  if (version !== kVersion) throw protocolError(`has version ${version}, not ${kVersion}`);
  if (mode === undefined) throw protocolError('asks for a mode that this version does not know');
  if (length > framed.byteLength - kFrameBytes) throw protocolError('is shorter than it says');
  return { mode, bytes: framed.slice(kFrameBytes, kFrameBytes + length) };
}

function protocolError(what: string): RdmaError {
  return new RdmaError(
    'ERR_RDMA_PROTOCOL',
    `The peer's private data ${what}. Use privateDataFormat: 'raw' towards programs that are not ` +
      'this library, and the same version of it at both ends.',
  );
}
