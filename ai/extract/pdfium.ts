import { readFile } from 'node:fs/promises';
import type { WrappedPdfiumModule } from '@embedpdf/pdfium';
import { init } from '@embedpdf/pdfium';

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
