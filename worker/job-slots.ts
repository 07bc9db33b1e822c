import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';
import { WaitQueue } from '../concurrency/wait-queue.ts';

/**
 * Slots that the workers of all kinds in a process share. A slot is reserved before a poll, but counts only while it is used, so that idle
 * queues take no slots. Polls under way may bring a few attempts more than there are slots: those wait for the semaphore of the attempts.
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
    const usedPermits = new Set<SlotPermit>();
    return {
      type: 'custom',
      reserveSlot: async (_context, signal) => {
        while (this.used >= this.limit) await this.queue.wait(signal);
        return {};
      },
      tryReserveSlot: () => (this.used >= this.limit ? null : {}),
      markSlotUsed: ({ permit }) => {
        usedPermits.add(permit);
        this.used++;
      },
      releaseSlot: ({ permit }) => {
        // A permit that was never used was never counted.
        if (!usedPermits.delete(permit)) return;
        this.used--;
        this.queue.resolveAll();
      },
    };
  }
}
