import { serveTasks } from '../sandbox/serve-tasks.ts';
import type { Pick, Question } from './answer.ts';
import { answerQuestion, findForeign, keepNear } from './rank-units.ts';

// Entry of the process that compares questions with passages: people wait for it, so it reads no documents.
serveTasks(
  {
    answer: (question: Question) => answerQuestion(question),
    findForeign: (question: Question) => findForeign(question),
    keepNear: ({ question, picks }: { question: Question; picks: Pick[] }) => keepNear(question, picks),
  },
  async () => null,
);
