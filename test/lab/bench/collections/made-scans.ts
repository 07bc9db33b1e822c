import sharp from 'sharp';
import { parts } from '../../../../docs/examples/samples/handbook.ts';
import { scan } from '../../../ai/support/scan.ts';
import { german } from './five-languages.ts';

/** A page of print as a scanner sees it, with its text. */
export interface MadeScan {
  name: string;
  /** What is done to it before it is read: nothing, or it is enlarged, straightened or turned. */
  as: 'it is' | 'small' | 'askew' | 'turned';
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
  const print = { language: 'eng', text: page.join(' '), as: 'it is' } as const;
  const smallest = { ...print, text: smallPrint.join(' '), as: 'small' } as const;
  const foreign = { ...print, language: 'deu', text: germanPage.join(' ') } as const;
  const turned = ([90, 180, 270] as const).map(async (degrees) => ({
    ...{ ...print, name: `turned by ${degrees}°`, text: shortPage.join(' '), as: 'turned' as const },
    image: await scan(shortPage, { turned: degrees }),
  }));
  return await Promise.all([
    { ...print, name: 'English, 200 dots per inch', image: english },
    worn({ ...print, name: '150 dots per inch' }, english, atResolution(150)),
    worn({ ...print, name: '100 dots per inch', as: 'small' }, english, atResolution(100)),
    worn({ ...print, name: '75 dots per inch', as: 'small' }, english, atResolution(75)),
    worn({ ...print, name: 'noise' }, english, withNoise(40)),
    worn({ ...print, name: 'faint and blurred' }, english, fade),
    worn({ ...print, name: 'askew by 3°, in a shadow', as: 'askew' }, english, shade),
    { ...smallest, name: '6 points', image: small },
    worn({ ...smallest, name: '6 points, 150 dots per inch' }, small, atResolution(150)),
    ...turned,
    { ...foreign, name: 'German, 200 dots per inch', image: inGerman },
    worn({ ...foreign, name: 'German, 100 dots per inch', as: 'small' }, inGerman, atResolution(100)),
    worn({ ...foreign, name: 'German, noise' }, inGerman, withNoise(40)),
  ]);
}

async function worn(page: Omit<MadeScan, 'image'>, image: Buffer, wear: Wear): Promise<MadeScan> {
  return { ...page, image: await wear(image) };
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
