import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { add, none, oneTest, type Summary } from './summary-reporter.ts';

const colors = process.stdout.isTTY ? '--colors=force' : '--colors=off';
const checks: [name: string, command: string[]][] = [
  ['format', ['@biomejs/biome/bin/biome', 'ci', colors, '--linter-enabled=false', '--assist-enabled=false', '.']],
  ['lint', ['@biomejs/biome/bin/biome', 'ci', colors, '--formatter-enabled=false', '--error-on-warnings', '.']],
  ['types', ['typescript/bin/tsc']],
  ['types of the console', ['typescript/bin/tsc', '-p', 'clients/web']],
  ['nothing unused', ['knip/bin/knip.js', '--no-progress', '--treat-config-hints-as-errors']],
];

/** Runs the formatter's check, the linter, the type checker and knip, which finds what nothing imports, and prints what they find; each counts as one test. */
export async function runChecks(): Promise<Summary> {
  let summary = none;
  for (const [name, [program = '', ...args]] of checks) {
    const startedAt = performance.now();
    const { ok, output } = await run([`node_modules/${program}`, ...args]);
    summary = add(summary, oneTest(name, ok));
    console.log(`  ${ok ? '✔' : '✘'} ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
    if (!ok) console.log(output.replace(/^/gm, '    '));
  }
  return summary;
}

async function run(args: string[]): Promise<{ ok: boolean; output: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [code, ...outputs] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { ok: code === 0, output: outputs.join('\n').trim() };
}
