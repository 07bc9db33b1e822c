/** The deepest JSON that a request may hold; no operation takes nearly as much. */
export const maxJsonDepth = 64;

const quote = 0x22;
const backslash = 0x5c;
const openers = new Set([0x5b, 0x7b]);
const closers = new Set([0x5d, 0x7d]);

/**
 * Measures how deeply arrays and objects are nested in the bytes of JSON, before anything parses it: code that walks through parsed JSON
 * recurses once for each level. Other texts are measured as if they were JSON.
 */
export class JsonDepth {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #tooDeep = false;

  /** Whether the bytes so far are nested deeper than {@link maxJsonDepth}. */
  get tooDeep(): boolean {
    return this.#tooDeep;
  }

  read(bytes: Uint8Array): this {
    for (const byte of bytes) {
      if (this.#inString) this.#readInString(byte);
      else if (byte === quote) this.#inString = true;
      else if (closers.has(byte)) this.#depth--;
      else if (openers.has(byte) && ++this.#depth > maxJsonDepth) {
        this.#tooDeep = true;
        break;
      }
    }
    return this;
  }

  #readInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inString = false;
  }
}
