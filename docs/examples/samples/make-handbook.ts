import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import PDFDocument from 'pdfkit';
import type { Part } from './handbook.ts';
import { parts, subtitle, title } from './handbook.ts';

// Typesets handbook.ts as docs/examples/samples/observatory-handbook.pdf: `node docs/examples/samples/make-handbook.ts`. The output is deterministic.
const margin = 72;
const created = new Date('2024-05-01T00:00:00Z');

const pdf = new PDFDocument({
  size: 'A4',
  margins: { top: margin, bottom: margin, left: margin, right: margin },
  bufferPages: true,
  info: { Title: `${title}: ${subtitle}`, Author: title, CreationDate: created, ModDate: created },
});
const output = createWriteStream(new URL('./observatory-handbook.pdf', import.meta.url));
pdf.pipe(output);
pdf.font('Times-Bold').fontSize(26).text(title, { align: 'center' });
pdf.font('Times-Italic').fontSize(13).text(subtitle, { align: 'center' }).moveDown(2);
for (const part of parts) setPart(part);
numberPages();
pdf.end();
await finished(output);

function setPart(part: Part): void {
  switch (part.kind) {
    case 'chapter':
      if (pdf.y > 300) pdf.addPage();
      pdf.moveDown(0.8).font('Times-Bold').fontSize(18).text(part.text).moveDown(0.5);
      return;
    case 'section':
      pdf.moveDown(0.3).font('Times-Bold').fontSize(13).text(part.text).moveDown(0.3);
      return;
    case 'paragraph':
      pdf.font('Times-Roman').fontSize(11.5).text(part.text, { align: 'justify', lineGap: 2 }).moveDown(0.7);
      return;
    case 'list':
      pdf.font('Times-Roman').fontSize(11.5).list(part.items, { bulletRadius: 2, lineGap: 2 }).moveDown(0.7);
      return;
    case 'table':
      pdf.font('Times-Roman').fontSize(10).table({ data: part.rows }).moveDown(1);
  }
}

function numberPages(): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let page = start; page < start + count; page += 1) {
    pdf.switchToPage(page);
    // The footer is below the margin, where text would otherwise start a new page.
    pdf.page.margins.bottom = 0;
    pdf.font('Times-Roman').fontSize(9).text(`${title} - page ${page + 1} of ${count}`, margin, 800, { align: 'center', lineBreak: false });
  }
}
