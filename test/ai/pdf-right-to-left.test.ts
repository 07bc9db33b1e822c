import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { processorSeconds } from '../support/hostile-texts.ts';
import { makePdfOf, stream } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const textOf = async (bytes: Buffer) => (await read(bytes, 'application/pdf')).text;
const printed = (name: string) => readFileSync(new URL(`./pdfs/${name}.pdf`, import.meta.url));

/** Hebrew letters, which are drawn as the Latin capitals. */
const hebrewFont = [
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 11 0 R >>',
  stream(
    '',
    `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /H def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange 3 beginbfrange <20> <40> <0020> <41> <5a> <05d0> <61> <7a> <0061> endbfrange endcmap end end`,
  ),
];

/** A PDF with one line, as it is seen. */
function makeHebrewPdf(line: string, size = 12): Buffer {
  const content = `BT /F2 ${size} Tf 50 700 Td (${line.replace(/[()]/g, '\\$&')}) Tj ET`;
  return makePdfOf({ content, objects: hebrewFont, fonts: '/F2 10 0 R' });
}

describe('A PDF that is written from right to left', () => {
  it('has numbers, dates and Latin names in order, and its tables with the right column first: Hebrew', async () => {
    expect(await textOf(printed('hebrew-invoice'))).to.equal(
      [
        'חשבונית מס 2026/0417\n',
        'לכבוד: נועה לוי, רחוב הרצל 12, תל אביב',
        'תאריך: 04/03/2026 טלפון 03-5551234 בסך 1,250.00 ש"ח עבור MacBook Pro 14\n',
        '| פריט | כמות | מחיר |',
        '| עט כחול | 3 | 12.50 |',
        '| מחברת גדולה | 10 | 145.00 |',
        '| נייר A4 | 2 | 31.90 |\n',
        'סך הכל לתשלום: 189.40 ש"ח',
      ].join('\n'),
    );
  });

  it('has the same in Arabic, where a hyphen parts numbers that are drawn', async () => {
    const text = await textOf(printed('arabic-invoice'));
    expect(text).to.contain('التاريخ: 04/03/2026 هاتف 03-5551234 بمبلغ 1,250.00 جنيه مقابل MacBook Pro 14');
    expect(text).to.contain('شارع النيل 12، القاهرة');
    expect(text).to.contain('| الصنف | الكمية | السعر |\n| قلم أزرق | 3 | 12.50 |\n| دفتر كبير | 10 | 145.00 |\n| ورق A4 | 2 | 31.90 |');
  });

  it('has brackets, percentages and lines that are mostly Latin as they are written', async () => {
    const hebrew = await textOf(printed('hebrew-receipt'));
    expect(hebrew).to.contain('חצץ (10 מ״מ) 3 1,250.50').and.contain('הובלה ל-Tel Aviv 1 ₪400.00');
    expect(hebrew).to.contain('הנחה של 15% עד 30 יום (ראה סעיף 4.2).');
    const arabic = await textOf(printed('arabic-receipt'));
    expect(arabic).to.contain('| رمل ABC-12 | ٣ | ١٬٢٥٠٫٥٠ |').and.contain('خصم 15% خلال 30 يوما (انظر البند 4.2).');
  });

  it('has telephone numbers, sums and years as they were typed, however their groups are drawn', async () => {
    // Printed by Chromium, half of them in `<bdi>`.
    expect(await textOf(printed('arabic-numbers'))).to.equal(
      [
        'هاتف المكتب 011 234 5678 في الرياض',
        'هاتف الفرع 011 234 5679 في جدة',
        'الجوال +966 50 123-4567 مساء',
        'الفاكس (011) 234 5670 صباحا',
        'تلفن ۰۲۱ ۱۲۳۴ ۵۶۷۸ تهران',
        'السعر 12 500 دينار والمجموع 1 000 000 دينار',
        'العقد 2020-2024 من 28-11-2020',
        'النسبة 10-20 في المئة\n',
        '| البيان | التاريخ | الهاتف | النسبة |',
        '| دفعة أولى | 2026-11-28 | 03-5551234 | 15% |',
        '| دفعة ثانية | 2026-12-05 | 012 345 6789 | 20% |',
        '| دفعة ثالثة | ٢٠٢٧-٠١-١٧ | 013 345 6789 | 65% |\n',
        'الهاتف',
        '014 234 5678',
        '015 234 5678',
      ].join('\n'),
    );
  });

  it('has groups of digits in the order of the line if nothing tells that they are one number', async () => {
    const lines: Record<string, string> = {
      '011 234 5678': '011 234 5678',
      '+972 3 555-1234': '+972 3 555-1234',
      '00972 3 555-1234': '00972 3 555-1234',
      '5678 234 011': '011 234 5678',
      '25 000': '25 000',
      '+18': '18+',
      '05 11 2026': '2026 11 05',
      '0 1250000': '1250000 0',
      '011 234 5678 012 345 6789': '6789 345 012 5678 234 011',
      '011 234 012': '012 234 011',
      '250 500': '500 250',
    };
    for (const [seen, read] of Object.entries(lines)) {
      const text = await textOf(makeHebrewPdf(`CBA LKJ ${seen} FED`));
      expect(text, seen).to.equal(`\u05d3\u05d4\u05d5 ${read} \u05d9\u05da\u05db \u05d0\u05d1\u05d2`);
    }
  });

  it('has brackets without blanks by what they mean, which Chromium stores', async () => {
    expect(await textOf(printed('arabic-brackets'))).to.equal(
      ['انظر البند(5) أيضا', 'انظر [أ(2)] أيضا', 'انظر ((2) أ) أيضا', 'الدالة:f(x) (أو g)', 'انظر (أ [2])'].join('\n'),
    );
  });

  it('has the letters of ligatures in order, also in lines without numbers', async () => {
    expect(await textOf(printed('arabic-prose'))).to.contain('خلال السنة الأولى لا يزيد\nالإيجار والسلامة');
  });

  it('has brackets and other signs beside Latin names on the side where they are drawn, with their blanks', async () => {
    const lines: Record<string, string> = {
      '(ibm)': '(ibm)',
      '(ibm corp)': '(ibm corp)',
      '[ibm]': '[ibm]',
      '.(ibm)': '(ibm).',
      '-(ibm)': '(ibm)-',
      '"ibm"': '"ibm"',
      '(2024)': '(2024)',
      '(1': '1)',
      '(GH)': '(\u05d7\u05d6)',
      '(GH) (ibm)': '(ibm) (\u05d7\u05d6)',
      '(ibm) (GH)': '(\u05d7\u05d6) (ibm)',
      '(ibm) (uk)': '(uk) (ibm)',
      'f(x)': 'f(x)',
      'f((x))': 'f((x))',
      '-f(2)': 'f(2)-',
      '(f(x))': '(f(x))',
      '3m (uk)': '3m (uk)',
      '(uk) x (ibm)': 'x (ibm) (uk)',
      '(ibm': 'ibm)',
      'ibm)': '(ibm',
    };
    for (const [seen, read] of Object.entries(lines)) {
      const text = await textOf(makeHebrewPdf(`CBA LKJ ${seen} FED`));
      expect(text, seen).to.equal(`\u05d3\u05d4\u05d5 ${read} \u05d9\u05da\u05db \u05d0\u05d1\u05d2`);
    }
    expect(await textOf(makeHebrewPdf('(ibm) LKJ CBA'))).to.equal('\u05d0\u05d1\u05d2 \u05d9\u05da\u05db (ibm)');
    // PDFium takes it for a line from left to right, since most of its words are.
    expect(await textOf(makeHebrewPdf('a b c ABCDEFG (x)'))).to.equal('(x) \u05d6\u05d5\u05d4\u05d3\u05d2\u05d1\u05d0 a b c');
  });

  it('is read in time if it is one endless line', async () => {
    for (const signs of ['A', '1!', 'A a!', 'A)))((', '1 000']) {
      const line = `A${signs.repeat(15_000 / signs.length)}`;
      expect(await processorSeconds(() => textOf(makeHebrewPdf(line, 0.05))), signs).to.be.below(1);
    }
  });

  it('is read so whatever is drawn first', async () => {
    // As it is seen, each piece drawn by itself from the left: `14.50 KH CBA`.
    const piece = (text: string, x: number, font: string) => `BT /${font} 12 Tf ${x} 700 Td (${text}) Tj ET\n`;
    const content = piece('14.50', 100, 'F1') + piece('KH', 140, 'F2') + piece('CBA', 170, 'F2');
    const text = await textOf(makePdfOf({ content, objects: hebrewFont, fonts: '/F2 10 0 R' }));
    expect(text).to.equal('\u05d0\u05d1\u05d2 \u05d7\u05da 14.50');
  });
});
