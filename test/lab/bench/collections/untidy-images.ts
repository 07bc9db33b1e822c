import sharp, { type Sharp } from 'sharp';

/** An image as people send it, with the values that a reader looks for. `upright` are prints and screenshots that nothing has happened to. */
export interface UntidyImage {
  name: string;
  upright: boolean;
  image: Buffer;
  values: string[];
}

const receipt = {
  lines: [
    'HARBOUR GROCERY',
    '14 Quay Street, Tarn Bridge',
    'Tel 0555 204 118',
    '',
    'Rye bread        3.40',
    'Butter 250 g     2.95',
    'Coffee 500 g     7.80',
    'Apples 1.2 kg    4.16',
    '',
    'TOTAL EUR       18.31',
    'Cash            20.00',
    'Change           1.69',
    '',
    '2026-03-14 17:42  Nr 00482',
    'Thank you for your visit',
  ],
  values: [
    'HARBOUR GROCERY',
    '14 Quay Street',
    '0555 204 118',
    'Rye bread',
    '3.40',
    '2.95',
    '7.80',
    '4.16',
    '18.31',
    '20.00',
    '1.69',
    '2026-03-14',
    '17:42',
    '00482',
  ],
};
const form = [
  ['Contract no.', 'TB-2026-118'],
  ['Customer', 'Ines Halloran'],
  ['Meter', '4471 902'],
  ['Old reading', '18 204'],
  ['New reading', '19 377'],
  ['Used', '1 173 kWh'],
  ['Price', '0.31 EUR'],
  ['Due', '30 April 2026'],
] as const;
const formValues = form.flat();

/** Images as people send them: photographs, faxes, screenshots, forms, turned and askew. Always the same ones. */
export async function makeUntidyImages(): Promise<UntidyImage[]> {
  const paper = await draw(
    receipt.lines.map((line, index) => text(line, 40, 70 + index * 44, 30, 'DejaVu Sans Mono')),
    560,
    760,
  );
  const page = await drawForm(2);
  const untidy = async (name: string, image: Promise<Buffer>, values: readonly string[], upright = false) => ({
    name,
    upright,
    image: await image,
    values: [...values],
  });
  return await Promise.all([
    untidy('receipt, scanned', jpeg(sharp(paper), 70), receipt.values, true),
    untidy('form with rules', jpeg(sharp(page), 70), formValues, true),
    untidy('form with thick rules', jpeg(sharp(await drawForm(6)), 70), formValues, true),
    untidy('form, black and white', sharp(page).greyscale().threshold(150).png({ palette: true, colours: 2 }).toBuffer(), formValues, true),
    untidy('screenshot, dark', sharp(page).negate().resize({ width: 620 }).png().toBuffer(), formValues, true),
    untidy('form, 600 dots per inch', jpeg(sharp(page).resize({ width: 5_000 }), 60), formValues, true),
    untidy('receipt on a table, askew', photograph(paper, 6, 0), receipt.values),
    untidy('receipt on a table, upside down', photograph(paper, -4, 180), receipt.values),
    untidy('receipt on a table, on its side', photograph(paper, 3, 90), receipt.values),
    untidy('receipt, faint', jpeg(sharp(await sharp(paper).linear(0.18, 195).toBuffer()).blur(0.8), 50), receipt.values),
    untidy('form, small', jpeg(sharp(page).resize({ width: 560 }), 60), formValues),
    untidy('form in a shadow, askew', photograph(page, 8, 0), formValues),
    untidy('form, turned by 270°', jpeg(sharp(page).rotate(270), 60), formValues),
    untidy('form under a stamp', jpeg(sharp(page).composite([{ input: stamp(), left: 520, top: 360 }]), 70), formValues),
  ]);
}

function text(line: string, x: number, y: number, size: number, font: string): string {
  return `<text x="${x}" y="${y}" font-family="${font}" font-size="${size}" xml:space="preserve" fill="#222">${line}</text>`;
}

function draw(parts: string[], width: number, height: number): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#fbfaf6"/>${parts.join('')}</svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();
}

function drawForm(rule: number): Promise<Buffer> {
  const rows = form.map(([label, value], index) => {
    const y = 180 + index * 80;
    const cell = (x: number, width: number) =>
      `<rect x="${x}" y="${y - 52}" width="${width}" height="80" fill="none" stroke="#333" stroke-width="${rule}"/>`;
    return `${cell(80, 420)}${cell(500, 600)}${text(label, 100, y, 32, 'DejaVu Sans')}${text(value, 520, y, 32, 'DejaVu Sans')}`;
  });
  return draw([text('Meter reading', 80, 90, 44, 'DejaVu Serif'), ...rows], 1_200, 900);
}

function stamp(): Buffer {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="420" height="200"><g transform="rotate(-14 210 100)" fill="none" stroke="#c33" opacity="0.45"><rect x="30" y="50" width="350" height="100" stroke-width="7"/><text x="60" y="122" font-size="62" font-family="DejaVu Sans" fill="#c33" stroke="none">RECEIVED</text></g></svg>';
  return Buffer.from(svg);
}

/** A paper on a dark table, under a lamp, as a phone takes it. */
async function photograph(paper: Buffer, askew: number, turned: number): Promise<Buffer> {
  const table = '#5b4a3a';
  const lying = await sharp(await sharp(paper).rotate(askew, { background: table }).png().toBuffer())
    .extend({ top: 90, bottom: 120, left: 110, right: 80, background: table })
    .png()
    .toBuffer();
  const { width, height } = await sharp(lying).metadata();
  const light = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><radialGradient id="g" cx="0.3" cy="0.25" r="1.1"><stop offset="0.2" stop-color="#fff"/><stop offset="1" stop-color="#666"/></radialGradient><rect width="100%" height="100%" fill="url(#g)"/></svg>`;
  const lit = await sharp(lying)
    .composite([{ input: Buffer.from(light), blend: 'multiply' }])
    .png()
    .toBuffer();
  return await jpeg(sharp(await sharp(lit).blur(0.9).png().toBuffer()).rotate(turned), 55);
}

function jpeg(image: Sharp, quality: number): Promise<Buffer> {
  return image.jpeg({ quality }).toBuffer();
}
