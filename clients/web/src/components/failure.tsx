import { Alert, Button, Code, CopyButton, Group, Text } from '@mantine/core';
import { SheafError } from '@sheaf/client';
import { useParams } from '@tanstack/react-router';
import { canCopy } from '../clipboard.ts';
import { lastUser } from '../queries.ts';
import type { Said } from '../said.ts';
import { aboveWords, inWords, t } from '../text.ts';
import { LinkTo } from './link-to.tsx';

/** What went wrong, with the id by which its operator finds the request. */
export function Failure({ error, retry, title }: { error: unknown; retry?: (() => void) | undefined; title?: string }) {
  const { organization, workspace } = useParams({ strict: false });
  // A session that has ended is said in a dialog over the page, and once signed in again it is true no longer.
  if (!error || (error instanceof SheafError && error.code === 'UNAUTHORIZED' && lastUser.get())) return null;
  const { requestId } = error instanceof SheafError ? error : {};
  const words = error instanceof Error ? inWords(error as Error & Said) : String(error);
  const page = error instanceof SheafError && error.is('LIMIT_REACHED') && (error.data?.scope === 'workspace' ? 'workspaces' : 'usage');
  const above = error instanceof SheafError && aboveWords(error);
  return (
    <Alert color="red" variant="default" title={title} role="alert" className="failure">
      {above && <Text>{above}</Text>}
      <Text {...(above && { size: 'xs', c: 'dimmed', lang: 'en' })}>{words}</Text>
      {organization && workspace && page && (
        <LinkTo to={`/o/$organization/$workspace/${page}`} params={{ organization, workspace }} size="sm">
          {t.nav.pages[page]}
        </LinkTo>
      )}
      {(requestId || retry) && (
        <Group gap="sm" mt="xs">
          {retry && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              {t.common.retry}
            </Button>
          )}
          {requestId && <RequestId id={requestId} />}
        </Group>
      )}
    </Alert>
  );
}

function RequestId({ id }: { id: string }) {
  if (!canCopy) return <Code>{t.common.requestId(id)}</Code>;
  return (
    <CopyButton value={id}>
      {({ copy, copied }) => (
        <Button size="compact-sm" variant="subtle" color="gray" c="dimmed" onClick={copy} title={t.common.copyRequestId}>
          <Code>{copied ? `${id} ✓` : t.common.requestId(id)}</Code>
        </Button>
      )}
    </CopyButton>
  );
}
