// Loaded before a program (`--import`): its times are those of OTHER_TIMES, where that has them. The program's sources are in its directory.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const file = resolve('base/config/times.ts');
// An earlier release, which a drill runs beside this one, has none.
if (existsSync(file)) Object.assign((await import(pathToFileURL(file).href)).times, JSON.parse(process.env.OTHER_TIMES ?? '{}'));
