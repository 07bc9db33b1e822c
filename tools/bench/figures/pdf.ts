import { setTimeout as delay } from 'node:timers/promises';
import PDFDocument from 'pdfkit';
import { createAiClient } from '../../../ai/client.ts';
import { extractText } from '../../../ai/extract/extract-text.ts';
import { parts } from '../../../examples/samples/handbook.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { alternate, rate } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';

const pages = 500;
const charactersPerPage = 2_500;
const limits = { maxUploadBytes: 30_000_000, maxTextCharacters: 2_000_000, maxPdfPages: 1_000 };

/** Pages of a PDF per second through the AI service, compared with the extractor in this process. */
export async function pdf({ rounds }: Effort): Promise<Figure[]> {
  const service = await startService({ MAX_TEXT_CHARACTERS: String(limits.maxTextCharacters), MAX_PDF_PAGES: String(limits.maxPdfPages) });
  return measure(service, rounds(9)).finally(() => service.stop());
}

async function measure(service: Service, rounds: number): Promise<Figure[]> {
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const bytes = await makePdf();
  // Readers are started ahead; the first ones are still doing so.
  await delay(2_000);
  const direct = () => extractText({ bytes, mediaType: 'application/pdf', charset: undefined }, limits);
  const throughService = () => ai.extract({ body: bytes, contentType: 'application/pdf' });
  if ((await direct()).text !== (await throughService()).text) throw new Error('the service reads another text than the extractor');
  // The readers compile what they run often, as this process does.
  for (let warmUp = 0; warmUp < 3; warmUp++) await Promise.all([direct(), throughService()]);
  const measured = await alternate(
    rounds,
    () => rate(pages, throughService),
    () => rate(pages, direct),
  );
  return [toFigure('PDF through the AI service', { ...measured, unit: 'pages/s' }, { ratio: { atLeast: 0.9 } })];
}

/** The text of the sample handbook, again and again, a page each. */
async function makePdf(): Promise<Buffer> {
  const prose = parts.map((part) => ('text' in part ? part.text : '')).join(' ');
  const document = new PDFDocument({ size: 'A4', autoFirstPage: false });
  for (let page = 0; page < pages; page++) {
    const start = (page * 500) % (prose.length - charactersPerPage);
    document
      .addPage()
      .fontSize(11)
      .text(prose.slice(start, start + charactersPerPage));
  }
  document.end();
  const chunks: Buffer[] = [];
  for await (const chunk of document) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
