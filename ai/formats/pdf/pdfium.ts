import { readFile } from 'node:fs/promises';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';

/** PDFium with its memory: the published types leave out the heap view, which Emscripten replaces when memory grows. */
export type Pdfium = WrappedPdfiumModule & { pdfium: { HEAPU8: Uint8Array } };

let loading: Promise<Pdfium> | undefined;

/** Loads PDFium once per process (about 50 ms). */
export function loadPdfium(): Promise<Pdfium> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Pdfium> {
  const wasm = await readFile(new URL(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm')));
  const pdfium = (await init({ wasmBinary: new Uint8Array(wasm).buffer })) as Pdfium;
  pdfium.PDFiumExt_Init();
  return pdfium;
}

/** Runs `work` with the address of `sizeBytes` of PDFium's memory, and frees it afterwards. The address is 0 if there is not enough. */
export function withMemory<T>({ pdfium: { wasmExports } }: Pdfium, sizeBytes: number, work: (address: number) => T): T {
  const address = wasmExports.malloc(sizeBytes);
  try {
    return work(address);
  } finally {
    if (address !== 0) wasmExports.free(address);
  }
}

/** The character that PDFium writes instead of a hyphen at a line end when it joins the word with the next line. */
export const joinedHyphen = '\ufffe';

/** A string of PDFium, which `read` writes into a buffer of so many bytes and returns the length of, in bytes with an end mark. */
export function readString(pdfium: Pdfium, read: (buffer: number, sizeBytes: number) => number): string {
  const length = read(0, 0);
  if (length <= 2) return '';
  return withMemory(pdfium, length, (buffer) => {
    if (buffer === 0) return '';
    read(buffer, length);
    return Buffer.from(pdfium.pdfium.HEAPU8.buffer, buffer, length - 2).toString('utf16le');
  });
}

/**
 * Bytes of PDFium, which `read` writes into a buffer of so many bytes, and their number to an address; undefined if there are none, or more
 * than `maxBytes`.
 */
export function readBytes(
  pdfium: Pdfium,
  maxBytes: number,
  read: (buffer: number, sizeBytes: number, lengthAddress: number) => boolean,
): Uint8Array | undefined {
  return withMemory(pdfium, 4, (lengthAddress) => {
    const isKnown = lengthAddress !== 0 && read(0, 0, lengthAddress);
    const length = isKnown ? Buffer.from(pdfium.pdfium.HEAPU8.buffer, lengthAddress, 4).readUInt32LE() : 0;
    if (length === 0 || length > maxBytes) return undefined;
    return withMemory(pdfium, length, (buffer) =>
      buffer !== 0 && read(buffer, length, lengthAddress) ? pdfium.pdfium.HEAPU8.slice(buffer, buffer + length) : undefined,
    );
  });
}
