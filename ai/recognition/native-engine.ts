import { spawn } from 'node:child_process';
import { type Engine, encodePgm, engineSettings, oneBlock, parseWords } from './engine.ts';

/** Debian's Tesseract: the program with the words that limit it, and its languages. */
export interface NativeTesseract {
  /** The program and its first arguments. */
  command: string[];
  languages: string[];
}

/** Maximum output: 60,000 words with their places, more than any page has. */
const maxOutputBytes = 16 * 1024 * 1024;

/** An engine that starts the program for each picture, in one thread. It ends with its parent. */
export function createNativeEngine({ command, languages }: NativeTesseract): Engine {
  const [program = '', ...before] = command;
  const settings = Object.entries(engineSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const how = ['-l', languages.join('+'), '--oem', '1', '--psm', oneBlock, ...settings, 'tsv'];
  return {
    recognize: async (picture) => parseWords(await run(program, [...before, 'stdin', 'stdout', ...how], encodePgm(picture))),
  };
}

function run(program: string, args: string[], input: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    // Its threads would only wait for each other where cores are few.
    const child = spawn(program, args, { env: { OMP_THREAD_LIMIT: '1' }, stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) child.kill('SIGKILL');
      else chunks.push(chunk);
    });
    // A program that ends early closes its input; its exit says why.
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (code, by) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`Tesseract ended with ${by ?? code}.`));
    });
    child.stdin.end(input);
  });
}
