import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import sharp from 'sharp';
import { renderPdfPage } from '../../ai/formats/pdf/read-pdf.ts';
import { makePdfOf, stream } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const readPdf = (bytes: Buffer) => read(bytes, 'application/pdf');
const textOf = async (bytes: Buffer) => (await readPdf(bytes)).text;
const openPdf = (name: string) => readFileSync(new URL(`./pdfs/${name}.pdf`, import.meta.url));

type Page = InstanceType<typeof PDFDocument>;

/** A page of a form: labels at places from its upper left corner, and what `fill` draws. */
async function makeForm(labels: [string, number, number][], fill: (page: Page) => void): Promise<Buffer> {
  const document = new PDFDocument({ size: [600, 800], margin: 0 });
  document.font('Helvetica').fontSize(11).initForm();
  for (const [text, x, y] of labels) document.text(text, x, y, { lineBreak: false });
  fill(document);
  document.end();
  return Buffer.concat(await document.toArray());
}

describe('A form that is filled', () => {
  it('has its values behind their labels, and boxes with a sign', async () => {
    expect(await textOf(openPdf('acroform'))).to.equal(
      'Application for a library card\n\nFull name: Wilhelmina Thackeray\nMembership number: LX-40771\nBranch: Quayside\nNewsletter: [x]',
    );
  });

  it('is drawn with them for text recognition', async () => {
    const drawn = sharp(await renderPdfPage(openPdf('acroform'), 0, true));
    const { width = 0 } = await drawn.metadata();
    const scale = width / 595;
    const [left, top, right, bottom] = [200, 106, 450, 126].map((points) => Math.round(points * scale)) as [number, number, number, number];
    const { channels } = await drawn.extract({ left, top, width: right - left, height: bottom - top }).stats();
    expect(channels[0]?.min).to.be.below(50);
  });

  it('has fields beside each other, above and below each other where they stand', async () => {
    const labels: [string, number, number][] = [
      ['Given name:', 50, 100],
      ['Surname:', 300, 100],
      ['Remarks', 50, 140],
      ['Yes', 70, 221],
      ['No', 130, 221],
      ['Signed in', 50, 260],
    ];
    const form = await makeForm(labels, (page) => {
      page.formText('given', 130, 97, 120, 16, { value: 'Ada' });
      page.formText('sur', 360, 97, 120, 16, { value: 'Okonkwo' });
      page.formText('remarks', 50, 155, 400, 50, { value: 'Leaves on Monday.\nReturns in May.', multiline: true });
      page.formCheckbox('yes', 50, 220, 12, 12, {});
      page.formText('secret', 130, 280, 120, 16, { value: 'hunter2', password: true });
      page.formText('empty', 300, 280, 120, 16, {});
      page.formCombo('place', 110, 257, 120, 16, { select: ['Porthmere', 'Tarn Bridge'], value: 'Tarn Bridge' });
    });
    expect(await textOf(form)).to.equal(
      'Given name: Ada Surname: Okonkwo\nRemarks\nLeaves on Monday.\nReturns in May.\n[ ] Yes No\nSigned in Tarn Bridge',
    );
  });

  it('has a value in place of the line that it is written upon', async () => {
    const form = await makeForm([['Tenant: ____________________ Date: __________ of this year', 50, 100]], (page) => {
      page.formText('tenant', 92, 96, 122, 16, { value: 'B. Quill' });
      page.formText('date', 248, 96, 58, 16, { value: '3 March' });
    });
    expect(await textOf(form)).to.equal('Tenant: B. Quill Date: 3 March of this year');
  });

  it('shows the names of options, and of a value what its format makes of it, and buttons', async () => {
    const options = '/FT /Ch /Ff 131072 /Opt [[(q) (Quayside)] [(h) (Hilltop)]] /V (h)';
    const format = '/FT /Tx /V (1250) /AA << /F << /S /JavaScript /JS (AFNumber_Format\\(2,0,0,0,"",true\\);) >> >> /AP << /N 12 0 R >>';
    const widget = (entries: string, y: number, name: string) =>
      `<< /Type /Annot /Subtype /Widget /T (${name}) /F 4 /Rect [200 ${y} 400 ${y + 20}] ${entries} >>`;
    const look = (text: string) =>
      stream(
        '/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >>',
        `/Tx BMC BT /F1 11 Tf 2 5 Td (${text}) Tj ET EMC`,
      );
    const pdf = makePdfOf({
      content: 'BT /F1 11 Tf 50 706 Td (Branch:) Tj 0 -30 Td (Rent:) Tj ET',
      catalog: '/AcroForm << /Fields [10 0 R 11 0 R 13 0 R] >>',
      page: '/Annots [10 0 R 11 0 R 13 0 R]',
      objects: [
        widget(options, 700, 'branch'),
        widget(format, 670, 'rent'),
        look('1,250.00'),
        widget('/FT /Btn /Ff 65536 /AP << /N 14 0 R >>', 630, 'send'),
        look('Send'),
      ],
    });
    expect(await textOf(pdf)).to.equal('Branch: Hilltop\nRent: 1,250.00\nSend');
  });
});

describe('What is put upon a page of a PDF', () => {
  it('is text if it is typed there; notes to open are left out, and it is said', async () => {
    const { text, notices } = await readPdf(openPdf('annots'));
    expect(text).to.equal('Minutes of the allotment society, approved in May.\nReviewer: fence repair costs 4,310 euros');
    expect(notices).to.deep.equal([
      { code: 'notes_left_out', text: 'Page 1 has notes that are shown only when they are opened, and were left out.' },
    ]);
  });

  it('is text also if it is there only with its formatting', async () => {
    const rich = '<?xml version="1.0"?><body xmlns="http://www.w3.org/1999/xhtml"><p>Paid <b>in full</b> &amp; signed</p></body>';
    const typed = `<< /Type /Annot /Subtype /FreeText /F 4 /DA (/Helv 11 Tf) /RC (${rich}) /Rect [50 640 300 660] >>`;
    const pdf = makePdfOf({ content: 'BT /F1 11 Tf 50 700 Td (A lease.) Tj ET', page: `/Annots [${typed}]` });
    expect(await textOf(pdf)).to.equal('A lease.\nPaid in full & signed');
  });

  it('is left out, and said, if it is a comment on a shape or on marked text', async () => {
    for (const kind of ['Line', 'Square', 'Polygon', 'Ink', 'Highlight']) {
      const comment = `<< /Type /Annot /Subtype /${kind} /F 4 /Contents (Is this right?) /Rect [50 690 90 720] >>`;
      const content = 'BT /F1 11 Tf 50 700 Td (A lease.) Tj ET';
      const { text, notices } = await readPdf(makePdfOf({ content, page: `/Annots [${comment}]` }));
      expect({ text, codes: notices?.map(({ code }) => code) }, kind).to.deep.equal({ text: 'A lease.', codes: ['notes_left_out'] });
    }
  });

  it('is what stamps show, and not what is hidden', async () => {
    const look = (text: string) =>
      stream(
        '/Type /XObject /Subtype /Form /BBox [0 0 200 40] /Resources << /Font << /F1 3 0 R >> >>',
        `BT /F1 18 Tf 5 10 Td (${text}) Tj ET`,
      );
    const stamp = (flags: number, look: number) =>
      `<< /Type /Annot /Subtype /Stamp /F ${flags} /Contents (by Ada) /Rect [300 100 500 140] /AP << /N ${look} 0 R >> >>`;
    const pdf = makePdfOf({
      content: 'BT /F1 11 Tf 50 700 Td (A lease.) Tj ET',
      page: '/Annots [10 0 R 11 0 R]',
      objects: [stamp(4, 12), stamp(6, 13), look('PAID 2026-03-04'), look('VOID')],
    });
    expect(await textOf(pdf)).to.equal('A lease.\nPAID 2026-03-04');
  });

  it('stands where it is on a page that is turned', async () => {
    const typed = '<< /Type /Annot /Subtype /FreeText /F 4 /DA (/Helv 11 Tf) /Contents (Ada Okonkwo) /Rect [304 120 320 260] >>';
    const pdf = makePdfOf({
      content: 'BT /F1 11 Tf 0 1 -1 0 316 50 Tm (Tenant:) Tj ET BT /F1 11 Tf 0 1 -1 0 346 50 Tm (from May) Tj ET',
      page: '/Rotate 90 /Annots [10 0 R]',
      objects: [typed],
    });
    expect(await textOf(pdf)).to.equal('Tenant: Ada Okonkwo\nfrom May');
  });
});
