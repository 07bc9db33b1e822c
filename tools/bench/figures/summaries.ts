import { findCandidates } from '../../../ai/summarize/candidates.ts';
import { summarizeText } from '../../../ai/summarize/summarize-text.ts';
import { textRank } from '../baselines/text-rank.ts';
import { type SummarizedText, summarizedTexts } from '../collections/summary-texts.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import { type Rouge, rougeOf } from '../support/rouge.ts';

const sentences = 3;
const names: Record<keyof Rouge, string> = { words: 'ROUGE-1', pairs: 'ROUGE-2', longest: 'ROUGE-L' };

type Summarize = (text: string) => string;

/**
 * How much of what a person would say of a text three of its sentences say, chosen by the local summary; beside its first three, which is hard to beat
 * where texts begin with what matters, and beside TextRank. All choose from the same sentences.
 */
export async function summaries(): Promise<Figure[]> {
  const sentencesOf = (text: string) => findCandidates(text).candidates.map((candidate) => candidate.text);
  const ours = average((text) => summarizeText(text, sentences).summary);
  const first = average((text) => sentencesOf(text).slice(0, sentences).join(' '));
  const ranked = average((text) => textRank(sentencesOf(text), sentences).join(' '));
  return (Object.keys(names) as (keyof Rouge)[]).flatMap((measure) => {
    const value = ours[measure];
    return [
      toFigure(
        `summaries, ${names[measure]}, beside the first sentences`,
        { value, baseline: first[measure], unit: '' },
        { ratio: { atLeast: 1 } },
      ),
      toFigure(`summaries, ${names[measure]}, beside TextRank`, { value, baseline: ranked[measure], unit: '' }, { ratio: { atLeast: 1 } }),
    ];
  });
}

function average(summarize: Summarize): Rouge {
  const all = summarizedTexts.map(({ text, reference }: SummarizedText) => rougeOf(summarize(text), reference));
  const mean = (measure: keyof Rouge) => all.reduce((sum, one) => sum + one[measure], 0) / all.length;
  return { words: mean('words'), pairs: mean('pairs'), longest: mean('longest') };
}
