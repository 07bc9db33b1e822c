/** What a question has led to in one way: a search mode, or `answers`. */
export interface Result {
  /** The place of the first expected document, from 1; of an answer, that of the first sentence of one. Null if there is none. */
  rank: number | null;
  answered?: boolean;
  /** Whether the answer has the expected text. */
  found?: boolean;
  credits: number;
}

/** What a run has found, as it is saved. */
export interface SavedRun {
  at: string;
  questions: { question: string; results: Record<string, Result> }[];
}

/** Shares of the questions, but for the credits; null where no question asks for it. */
export type Figures = Record<'hit1' | 'hit5' | 'mrr' | 'answered' | 'found' | 'credits', number | null>;

export function figuresOf(results: Result[]): Figures {
  const mean = (values: number[]) => (values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length);
  const share = (values: (boolean | undefined)[]) => mean(values.filter((value) => value !== undefined).map(Number));
  return {
    hit1: share(results.map(({ rank }) => rank === 1)),
    hit5: share(results.map(({ rank }) => rank !== null && rank <= 5)),
    mrr: mean(results.map(({ rank }) => (rank === null ? 0 : 1 / rank))),
    answered: share(results.map(({ answered }) => answered)),
    found: share(results.map(({ found }) => found)),
    credits: results.reduce((sum, { credits }) => sum + credits, 0),
  };
}

export interface Change {
  question: string;
  way: string;
  change: 'better' | 'worse';
  before: Result;
  now: Result;
}

/** What became better or worse for each question that both runs have asked in the same way, and by how much the figures of these did. */
export function compareRuns(before: SavedRun, now: SavedRun, way: string): { changes: Change[]; by: Figures } {
  const earlier = new Map(before.questions.map(({ question, results }) => [question, results[way]]));
  const both = now.questions.flatMap(({ question, results: { [way]: current } }) => {
    const old = earlier.get(question);
    return old && current ? [{ question, way, before: old, now: current }] : [];
  });
  const changes = both.flatMap((one) => {
    const gain = worth(one.now) - worth(one.before);
    return gain === 0 ? [] : [{ ...one, change: gain > 0 ? ('better' as const) : ('worse' as const) }];
  });
  const [is, was] = [figuresOf(both.map((one) => one.now)), figuresOf(both.map((one) => one.before))];
  const by = Object.entries(is).map(([name, value]) => [name, value === null ? null : value - (was[name as keyof Figures] ?? value)]);
  return { changes, by: Object.fromEntries(by) as Figures };
}

/** An answer with the expected text is better than one without, whatever it quotes. */
function worth({ rank, found }: Result): number {
  return (found ? 2 : 0) + (rank === null ? 0 : 1 / rank);
}
