import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { runCommand, tryCommand } from './run-command.ts';
import { type Recipe, standInLabel } from './stand-ins/recipe.ts';
import { recipes } from './stand-ins/recipes.ts';

/** An image that docker-compose.yml or the Dockerfile names, and where it is from. */
export interface FoundImage {
  name: string;
  /** In words. */
  origin: string;
  megabytes: number;
}

/** The bases and services of the deployment, those of profiles included: what somebody else publishes. */
export async function listNeededImages(): Promise<string[]> {
  const bases = [...readFileSync('ops/deploy/Dockerfile', 'utf8').matchAll(/^ARG \w+_IMAGE=(\S+)$/gm)].map(([, name = '']) => name);
  const compose: { services: Record<string, { image: string }> } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  const services = Object.values(compose.services).flatMap(({ image }) => /^\$\{\w+_IMAGE:-(\S+)\}$/.exec(image)?.[1] ?? []);
  return [...new Set([...bases, ...services])];
}

/** Pulls the images that are missing, or makes stand-ins where no registry has them for this machine. Throws if neither is possible. */
export async function provideImages(note: (line: string) => void): Promise<FoundImage[]> {
  const images: FoundImage[] = [];
  for (const name of await listNeededImages()) {
    await provideImage(name, recipes[name], note);
    const madeOf = await readLabel(name);
    const origin = madeOf ? `a stand-in, made of ${madeOf}` : 'as published';
    images.push({ name, origin, megabytes: await measureImage(name) });
  }
  return images;
}

/** The image of the service, which is built here. */
export async function describeOwnImage(): Promise<FoundImage> {
  const [, name = ''] = /^ +image: (sheaf:\S+)$/m.exec(readFileSync('docker-compose.yml', 'utf8')) ?? [];
  return { name, origin: 'built of ops/deploy/Dockerfile; the size is with that of its base', megabytes: await measureImage(name) };
}

/** Whether the image is here; a stand-in of an older recipe is not usable. */
async function isUsable(name: string, recipe: Recipe | undefined): Promise<boolean> {
  const label = await readLabel(name);
  return label !== undefined && (label === '' || label === recipe?.madeOf);
}

/** Pulls an image that is missing, or makes a stand-in. */
export async function provideImage(name: string, recipe: Recipe | undefined, note: (line: string) => void): Promise<void> {
  if (await isUsable(name, recipe)) return;
  note(`  ${name}: not here`);
  const pulled = await tryCommand('timeout', ['300', 'docker', 'pull', '--quiet', name]);
  if (pulled.code === 0) return;
  if (!recipe) throw new Error(`${name} cannot be pulled, and there is no recipe for a stand-in:\n${pulled.stderr}`);
  note(`  ${name}: cannot be pulled, so a stand-in is made of ${recipe.madeOf} …`);
  await recipe.make(name);
}

async function measureImage(name: string): Promise<number> {
  return Math.round(Number(await runCommand('docker', ['image', 'inspect', '--format', '{{.Size}}', name])) / 1e6);
}

/** What a stand-in is made of; '' for any other image, undefined if there is none. */
async function readLabel(name: string): Promise<string | undefined> {
  const format = `{{with .Config.Labels}}{{index . "${standInLabel}"}}{{end}}`;
  const { code, stdout } = await tryCommand('docker', ['image', 'inspect', '--format', format, name]);
  return code === 0 ? stdout.trim() : undefined;
}
