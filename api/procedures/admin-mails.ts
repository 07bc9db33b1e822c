import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';

export function adminMailProcedures({ mailbox }: ApiDeps) {
  return {
    list: procedure(contract.admin.mails.list, async ({ input }) => {
      if (!mailbox) throw new ApiError('PRECONDITION_FAILED', { message: 'This deployment does not keep its mails.' });
      const { items, total } = await mailbox.list(input);
      return { items: items.map((mail) => ({ ...mail, createdAt: mail.createdAt.toISOString() })), total };
    }),
  };
}
