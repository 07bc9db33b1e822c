import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import type { AttemptSlots } from '../activities/attempt-slots.ts';
import { WaitQueue } from '../concurrency/wait-queue.ts';

/**
 * What the workers of all kinds in a process may take from their queues. An attempt counts for all of them, a poll only for its own queue, so
 * that idle queues take nothing from the others. Polls of several queues may bring a few attempts more: those wait for the slots of the
 * attempts.
 */
export class JobSlots {
  private readonly attempts: AttemptSlots;
  private used = 0;
  private readonly queue = new WaitQueue();

  constructor(attempts: AttemptSlots) {
    this.attempts = attempts;
  }

  /** The supplier of one worker. */
  supplier(): CustomSlotSupplier<ActivitySlotInfo> {
    /** Those of polls that have brought nothing yet. */
    const asking = new Set<SlotPermit>();
    const used = new Set<SlotPermit>();
    const reserve = (): SlotPermit | null => {
      if (this.used + asking.size >= this.attempts.mostTaken) return null;
      const permit = {};
      asking.add(permit);
      return permit;
    };
    return {
      type: 'custom',
      reserveSlot: async (_context, signal) => {
        for (;;) {
          const permit = reserve();
          if (permit) return permit;
          await this.untilRoom(signal);
        }
      },
      tryReserveSlot: reserve,
      markSlotUsed: ({ permit }) => {
        asking.delete(permit);
        used.add(permit);
        this.used++;
      },
      releaseSlot: ({ permit }) => {
        asking.delete(permit);
        if (used.delete(permit)) this.used--;
        this.queue.resolveAll();
      },
    };
  }

  /** Waits until one is released, or more may be taken. */
  private async untilRoom(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      await Promise.race([this.queue.wait(either), this.attempts.untilMore(either)]);
    } finally {
      over.abort();
    }
  }
}
