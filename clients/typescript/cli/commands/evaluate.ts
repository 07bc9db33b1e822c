import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { forEachAtOnce } from '../at-once.ts';
import { askQuestion, type Mode, modes } from '../evaluate/ask-question.ts';
import { parseQuestions, type Question } from '../evaluate/questions.ts';
import { type Change, compareRuns, type Figures, figuresOf, type Result, type SavedRun } from '../evaluate/results.ts';
import { exitCodes, Failure } from '../failure.ts';
import { addLeaf, choice, integer, workspaceOption } from '../leaf.ts';
import { createProgress } from '../progress.ts';
import { findOrganization, type Run, readPages, requireWorkspace } from '../run.ts';
import { plain, type Terminal } from '../terminal.ts';

interface Options {
  workspace?: string;
  answers?: Mode;
  save?: string;
  against?: string;
  concurrency: number;
}

const heads = { hit1: 'hit@1', hit5: 'hit@5', mrr: 'MRR', answered: 'answered', found: 'answer found', credits: 'credits' };

/** `sheaf evaluate`. */
export function addEvaluate(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'evaluate <questions.jsonl>',
    description:
      'Measure how well a workspace finds the documents that questions are about, in each search mode. A line is {"question": …, "documents": [ids or names], "answer": a text that an answer has to contain; optional}.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .addOption(choice('--answers [mode]', 'also have each question answered, from passages found in this mode', modes).preset('hybrid'))
        .option('--save <file>', 'write the results as JSON')
        .option('--against <file>', 'what an earlier run has saved: say what has changed')
        .option('--concurrency <number>', 'how many questions are asked at once', integer(1), 4),
    patient: true,
    action: evaluate,
  });
}

async function evaluate(run: Run, { answers, save, against, concurrency, ...options }: Options, [file = '']: string[]): Promise<void> {
  const { client, terminal } = run;
  const { signal } = terminal;
  const place = { organizationId: await findOrganization(run), workspaceId: await requireWorkspace(run, options.workspace) };
  const before = against === undefined ? undefined : await readRun(against);
  // What cannot be stored is not paid for.
  if (save !== undefined) await access(dirname(save), constants.W_OK);
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Failure(`${file} is not there, or cannot be read.`);
  });
  const known = new Set<string>();
  const read = (cursor = {}) => client.documents.list({ ...place, limit: 200, ...cursor }, { signal });
  for await (const { id, name } of readPages(undefined, read)) known.add(id).add(name.normalize());
  const questions = parseQuestions(text, (document) => known.has(document));
  const progress = createProgress(terminal);
  const asking = { client, workspaceId: place.workspaceId, answers, signal };
  const found = new Map<Question, SavedRun['questions'][number]>();
  await forEachAtOnce(questions.values(), { concurrency, stopping: signal }, async (one) => {
    found.set(one, { question: one.question, results: await askQuestion(asking, one) });
    progress.show(`${found.size} of ${questions.length} questions`);
  }).finally(progress.clear);
  signal.throwIfAborted();
  const now = { at: new Date().toISOString(), questions: questions.flatMap((one) => found.get(one) ?? []) };
  try {
    // The reader of what is said may leave, which ends the program.
    if (save !== undefined) await writeFile(save, `${JSON.stringify(now, undefined, 2)}\n`);
  } finally {
    sayRun(run, answers ? [...modes, 'answers'] : modes, now, before);
  }
}

function sayRun({ output }: Run, ways: readonly string[], now: SavedRun, before: SavedRun | undefined): void {
  const row = (way: string, cells: string[]) => `${way.padEnd(10)}${cells.map((cell) => cell.padEnd(16)).join('')}`.trimEnd();
  if (!output.isJson) output.show({}, output.paint('bold', row('', Object.values(heads))));
  const changes: Change[] = [];
  for (const way of ways) {
    const figures = figuresOf(now.questions.flatMap(({ results }) => results[way] ?? []));
    const compared = before && compareRuns(before, now, way);
    changes.push(...(compared?.changes ?? []));
    const cells = (Object.keys(heads) as (keyof Figures)[]).map((name) => {
      const [value, by] = [figures[name], compared?.by[name]];
      const digits = name === 'credits' ? 0 : 3;
      return value === null ? '' : `${value.toFixed(digits)}${by ? ` (${by > 0 ? '+' : ''}${by.toFixed(digits)})` : ''}`;
    });
    output.show({ way, ...figures, ...(compared ? { by: compared.by } : {}) }, row(way, cells));
  }
  for (const one of changes) {
    const { question, way, change } = one;
    const text = `${change}  ${way}  ${sayResult(one.before)} → ${sayResult(one.now)}  ${plain(question)}`;
    output.show(one, output.paint(change === 'better' ? 'green' : 'red', text));
  }
}

function sayResult({ rank, found }: Result): string {
  return `${rank ?? 'not found'}${found === undefined ? '' : found ? ', answered' : ', not answered'}`;
}

async function readRun(file: string): Promise<SavedRun> {
  try {
    const saved = JSON.parse(await readFile(file, 'utf8'));
    const hasResults = (one: Partial<SavedRun['questions'][number]> | null) => one?.results instanceof Object;
    if (!(Array.isArray(saved.questions) && saved.questions.every(hasResults))) throw new Error('it has no questions with results');
    return saved;
  } catch (error) {
    throw new Failure(`${file} is no saved run: ${(error as Error).message}`, exitCodes.misunderstood);
  }
}
