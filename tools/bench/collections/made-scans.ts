import sharp from 'sharp';
import { parts } from '../../../examples/samples/handbook.ts';
import { scan } from '../../../test/ai/support/scan.ts';
import { german } from './five-languages.ts';

/** A page of print as a scanner sees it, with its text. */
export interface MadeScan {
  name: string;
  /** As text recognition names it. */
  language: 'eng' | 'deu';
  /** A JPEG. */
  image: Buffer;
  text: string;
}

/** What a page of 11 points at 200 dots per inch goes through. */
type Wear = (image: Buffer) => Promise<Buffer>;

const scannedAt = 200;
const prose = parts.flatMap((part) => (part.kind === 'paragraph' ? [part.text] : [])).join(' ');
const page = wrap(prose, 80).slice(0, 40);
const shortPage = page.slice(0, 14);
const smallPrint = wrap(prose, 130).slice(0, 60);
const germanPage = wrap(german.join(' '), 80);

/** Pages of print in two languages: clean, small, coarse, noisy, faint, shaded, and turned as the paper lay in the scanner. */
export async function makeScans(): Promise<MadeScan[]> {
  const [english, small, inGerman] = await Promise.all([scan(page), scan(smallPrint, { points: 6 }), scan(germanPage)]);
  const worn = async (name: string, language: MadeScan['language'], lines: string[], image: Buffer, wear?: Wear): Promise<MadeScan> => ({
    ...{ name, language, text: lines.join(' '), image: wear ? await wear(image) : image },
  });
  const turned = ([90, 180, 270] as const).map(async (degrees) =>
    worn(`turned by ${degrees}°`, 'eng', shortPage, await scan(shortPage, { turned: degrees })),
  );
  return await Promise.all([
    worn('English, 200 dots per inch', 'eng', page, english),
    worn('150 dots per inch', 'eng', page, english, atResolution(150)),
    worn('100 dots per inch', 'eng', page, english, atResolution(100)),
    worn('75 dots per inch', 'eng', page, english, atResolution(75)),
    worn('noise', 'eng', page, english, withNoise(40)),
    worn('faint and blurred', 'eng', page, english, fade),
    worn('askew by 3°, in a shadow', 'eng', page, english, shade),
    worn('6 points', 'eng', smallPrint, small),
    worn('6 points, 150 dots per inch', 'eng', smallPrint, small, atResolution(150)),
    ...turned,
    worn('German, 200 dots per inch', 'deu', germanPage, inGerman),
    worn('German, 100 dots per inch', 'deu', germanPage, inGerman, atResolution(100)),
    worn('German, noise', 'deu', germanPage, inGerman, withNoise(40)),
  ]);
}

function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 2}}\\S(?=\\s|$)`, 'g')) ?? [];
}

function atResolution(dotsPerInch: number): Wear {
  return async (image) => {
    const { width } = await sharp(image).metadata();
    return sharp(image)
      .resize({ width: Math.round((width * dotsPerInch) / scannedAt) })
      .jpeg({ quality: 60 })
      .toBuffer();
  };
}

/** Grey levels that deviate by `deviation` of 255, in the same way in each run. */
function withNoise(deviation: number): Wear {
  return async (image) => {
    const { data, info } = await sharp(image).greyscale().raw().toBuffer({ resolveWithObject: true });
    const random = randomNumbers();
    // The sum of twelve evenly distributed numbers is normal enough.
    const normal = () => Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);
    const noisy = Buffer.from(data.map((level) => Math.min(255, Math.max(0, level + deviation * normal()))));
    const { width, height, channels } = info;
    return sharp(noisy, { raw: { width, height, channels } }).jpeg({ quality: 60 }).toBuffer();
  };
}

/** From 0 to 1, always the same ones (a linear congruence). */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Like a poor photocopy: a quarter of the contrast is left. */
async function fade(image: Buffer): Promise<Buffer> {
  return sharp(await sharp(image).linear(0.25, 170).blur(1.2).png().toBuffer())
    .jpeg({ quality: 40 })
    .toBuffer();
}

/** Like a photograph of a page that lies in its photographer's shadow. */
async function shade(image: Buffer): Promise<Buffer> {
  const askew = await sharp(image).rotate(3, { background: '#777' }).png().toBuffer();
  const { width, height } = await sharp(askew).metadata();
  const shadow = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><linearGradient id="g" x2="1" y2="1">
<stop offset="0.2" stop-color="#fff"/><stop offset="0.8" stop-color="#555"/></linearGradient><rect width="100%" height="100%" fill="url(#g)"/></svg>`;
  return sharp(askew)
    .composite([{ input: Buffer.from(shadow), blend: 'multiply' }])
    .jpeg({ quality: 60 })
    .toBuffer();
}
