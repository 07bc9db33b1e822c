import { encodeGreyPng } from './encode-png.ts';
import type { OpenPdf } from './open-pdf.ts';
import { type Pdfium, withMemory } from './pdfium.ts';

/** Text recognition reads small print well from here on, and gains little from more. */
const dotsPerInch = 300;
const pointsPerInch = 72;
/** An A4 page has 8.7 million. A larger one is rendered with fewer dots for each inch. */
const maxPixels = 12_000_000;
const greyBitmap = 1;
const white = 0xffffffff;
const flags = { annotations: 0x01, grey: 0x08 };

/** Renders a page that is loaded, in grey on white and upright, as a PNG. Undefined if there is not enough memory, or no area. */
export function renderPage({ pdfium, form }: OpenPdf, page: number): Buffer | undefined {
  const { width, height } = pixelsOf(pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page));
  if (width === 0 || height === 0) return undefined;
  return withMemory(pdfium, width * height, (address) => {
    if (address === 0) return undefined;
    const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, greyBitmap, address, width);
    if (bitmap === 0) return undefined;
    try {
      pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
      pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags.annotations | flags.grey);
      if (form !== 0) pdfium.FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, flags.grey);
      return encodeGreyPng(pdfium.pdfium.HEAPU8.subarray(address, address + width * height), width, height);
    } finally {
      pdfium.FPDFBitmap_Destroy(bitmap);
    }
  });
}

const textObject = 1;

/** Keeps the text of a page that is loaded, other than that in forms, from being rendered. */
export function hideText(pdfium: Pdfium, page: number): void {
  for (let index = pdfium.FPDFPage_CountObjects(page) - 1; index >= 0; index -= 1) {
    const object = pdfium.FPDFPage_GetObject(page, index);
    if (object !== 0 && pdfium.FPDFPageObj_GetType(object) === textObject) pdfium.FPDFPageObj_SetIsActive(object, false);
  }
}

/** The size in pixels of a page whose size is given in points. */
function pixelsOf(widthPoints: number, heightPoints: number): { width: number; height: number } {
  const scale = Math.min(dotsPerInch / pointsPerInch, Math.sqrt(maxPixels / Math.max(1, widthPoints * heightPoints)));
  // A page may be a narrow strip: its longer side is bounded, too.
  const [width = 0, height = 0] = [widthPoints, heightPoints].map((points) => Math.min(maxPixels, Math.floor(points * scale)));
  return width * height > maxPixels ? { width: 0, height: 0 } : { width, height };
}
