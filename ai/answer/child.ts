import { serveTasks } from '../pool/serve-tasks.ts';
import type { Question } from './answer.ts';
import { answerQuestion } from './answer-question.ts';

// Entry of the process that answers questions from passages: people wait for it, so it reads no documents.
serveTasks({ answer: (question: Question) => answerQuestion(question) }, async () => null);
