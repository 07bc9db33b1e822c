import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import { WaitQueue } from '../base/concurrency/wait-queue.ts';

/**
 * The slots that the workers of all kinds in a process share. An attempt counts for all of them, a poll only for its own queue, so that
 * idle queues take no slots from others. Polls of several queues may start a few attempts too many, which wait for the process's semaphore.
 */
export class JobSlots {
  private readonly limit: number;
  private used = 0;
  private readonly queue = new WaitQueue();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** The supplier of one worker. */
  supplier(): CustomSlotSupplier<ActivitySlotInfo> {
    /** The permits of polls that have brought no attempt yet. */
    const asking = new Set<SlotPermit>();
    const used = new Set<SlotPermit>();
    const reserve = (): SlotPermit | null => {
      if (this.used + asking.size >= this.limit) return null;
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
          await this.queue.wait(signal);
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
}
