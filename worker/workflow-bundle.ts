import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = ['workflows/**/*.ts', 'contract/intents/*.ts', 'base/telemetry/trace-header.ts'];
const cacheDirectory = join(root, 'node_modules', '.cache', 'sheaf');

/**
 * The workflows as Temporal's sandbox runs them. Bundling takes seconds, so the bundle is cached in `node_modules/`, under the hash of its
 * sources. An unwritable cache is no error. The bundle contains the failure converter of the given path, if any.
 */
export async function bundleWorkflows({ failureConverterPath }: DataConverter = {}): Promise<WorkflowBundle> {
  const variant = failureConverterPath === undefined ? '' : '-failures';
  const file = join(cacheDirectory, `workflows-${hashSources()}${variant}.js`);
  const cached = read(file);
  if (cached !== undefined) return { code: cached };
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows', 'index.ts'),
    workflowInterceptorModules: [join(root, 'workflows', 'trace-workflow.ts')],
    ...(failureConverterPath === undefined ? {} : { failureConverterPath }),
    logger: new DefaultLogger('WARN'),
  });
  write(file, code);
  return { code };
}

/** What workflows import from other folders than these is types, so the bundle depends on these files and the packages. */
function hashSources(): string {
  const hash = createHash('sha256');
  for (const file of globSync(sources, { cwd: root }).sort()) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
    .slice(0, 32);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function write(file: string, code: string): void {
  try {
    mkdirSync(cacheDirectory, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, code);
    renameSync(`${file}.${process.pid}`, file);
  } catch {}
}
