import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const bin = resolve('node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };

/** The packages of this project that are published, with their folders. */
const published = { client: 'clients/typescript', contract: 'contract' };
type Published = keyof typeof published;

/** A project in a directory of its own in which only one package of this project is installed. */
export async function makeConsumer(directory: string, name: Published = 'client'): Promise<string> {
  const consumer = join(directory, 'consumer');
  await install(await pack(join(directory, 'sources'), name), consumer, name);
  return consumer;
}

/** Compiles the program of the client's README in a consumer, and runs it against a service. Throws what the compiler says. */
export async function runReadme(consumer: string, url: string): Promise<string> {
  const readme = readFileSync('clients/typescript/README.md', 'utf8');
  const program = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code).join('');
  writeFileSync(join(consumer, 'readme.ts'), program.replaceAll('https://api.example.com', url));
  copyFileSync('docs/examples/samples/beekeeping-notes.md', join(consumer, 'notes.md'));
  const said = await compile(consumer);
  if (said !== '') throw new Error(said);
  return (await run(process.execPath, ['readme.js'], { cwd: consumer, env })).stdout;
}

/** What the compiler says against the programs of a consumer; '' if it takes them. */
export async function compile(consumer: string, options: string[] = []): Promise<string> {
  return await run(join(bin, 'tsc'), ['-p', '.', ...options], { cwd: consumer, env, maxBuffer: 2 ** 26 }).then(
    () => '',
    ({ stdout }) => stdout,
  );
}

/** Packs a copy of the sources, so that nothing is left among them. */
async function pack(sources: string, name: Published): Promise<string> {
  for (const path of [...Object.values(published), 'package.json', 'tsconfig.json']) cpSync(path, join(sources, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(sources, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--json'], { cwd: join(sources, published[name]), env });
  const [packed] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))) as { filename: string }[];
  return join(sources, published[name], packed?.filename ?? '');
}

/** Puts the package where npm would, next to the packages that it depends on: no registry is asked. */
async function install(tarball: string, consumer: string, name: Published): Promise<void> {
  const target = join(consumer, 'node_modules/@sheaf', name);
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(published[name], 'package.json'), 'utf8'));
  for (const needed of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(join(consumer, 'node_modules', needed, '..'), { recursive: true });
    symlinkSync(resolve('node_modules', needed), join(consumer, 'node_modules', needed));
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }));
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2022', lib: ['esnext'], types: ['node'], skipLibCheck: true };
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
}
