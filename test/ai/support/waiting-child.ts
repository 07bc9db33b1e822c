// Says how much of its time each task has left when it begins; those of the type `image/tiff` then keep the process busy for a second.
import { setTimeout as delay } from 'node:timers/promises';
import { deadlineOf, type ImageTask } from '../../../ai/ocr/task.ts';
import { serveTasks } from '../../../ai/pool/serve-tasks.ts';

serveTasks(
  {
    ocr: async ({ mediaType, ...times }: ImageTask) => {
      const leftMs = deadlineOf(times) - performance.now();
      if (mediaType === 'image/tiff') await delay(1_000);
      return { text: String(leftMs), pages: 1 };
    },
  },
  async () => null,
);
