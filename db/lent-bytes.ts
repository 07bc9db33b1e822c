const bufferBytes = 1_048_576;
/** What is kept for later, together. */
const mostSpareBytes = 24 * bufferBytes;

/** A text of one byte for each character, in a part of a buffer that is used again once all its parts were given back. */
export class LentBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  #giveBack: (() => void) | undefined;

  constructor(bytes: Buffer, start: number, end: number, giveBack: () => void) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.#giveBack = giveBack;
  }

  /** Gives the part back; from then on its bytes may be those of another text. Not needed after a failure: then the buffer is garbage. */
  release(): void {
    this.#giveBack?.();
    // A second release would free somebody else's part.
    this.#giveBack = undefined;
  }
}

class LentBuffer {
  readonly bytes: Buffer;
  #used = 0;
  #lent = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  hasRoom(bytes: number): boolean {
    return this.#used + bytes <= this.bytes.length;
  }

  lend(text: string): LentBytes {
    const start = this.#used;
    this.#used += this.bytes.write(text, start, 'latin1');
    this.#lent++;
    return new LentBytes(this.bytes, start, this.#used, this.#takeBack);
  }

  readonly #takeBack = (): void => {
    this.#lent--;
    if (this.#lent > 0) return;
    this.#used = 0;
    if (this !== current) keep(this);
  };
}

/** The smallest first. */
const spare: LentBuffer[] = [];
let spareBytes = 0;
let current = new LentBuffer(bufferBytes);

function keep(buffer: LentBuffer): void {
  if (spareBytes + buffer.bytes.length > mostSpareBytes) return;
  spareBytes += buffer.bytes.length;
  const larger = spare.findIndex(({ bytes }) => bytes.length >= buffer.bytes.length);
  spare.splice(larger === -1 ? spare.length : larger, 0, buffer);
}

/** A buffer with room for so many bytes, of a megabyte or a larger power of two. */
function take(bytes: number): LentBuffer {
  const fitting = spare.findIndex((buffer) => buffer.hasRoom(bytes));
  if (fitting === -1) return new LentBuffer(Math.max(bufferBytes, 2 ** Math.ceil(Math.log2(bytes))));
  const [buffer] = spare.splice(fitting, 1) as [LentBuffer];
  spareBytes -= buffer.bytes.length;
  return buffer;
}

/**
 * Copies a text of characters below U+0100 into a buffer that is used again. The driver makes a string of each value, and keeps those of a
 * result until its last row: a megabyte of them outlives the young generation of V8's heap, and is collected in pauses that others notice.
 */
export function lendBytes(text: string): LentBytes {
  if (text.length > bufferBytes) return take(text.length).lend(text);
  if (!current.hasRoom(text.length)) current = take(text.length);
  return current.lend(text);
}
