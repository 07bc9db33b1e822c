import { Button, Table, Text } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { Failure } from '../parts/failure.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Time } from '../parts/time.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { service } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/audit');

type Entry = OutputOf<Contract['organizations']['auditLog']>['entries'][number];

/** What was done in the organization, and by whom. */
export default function Audit() {
  const organizationId = route.useRouteContext().organization.id;
  const log = useInfiniteQuery({
    queryKey: ['audit', organizationId],
    queryFn: ({ pageParam, signal }) =>
      service.organizations.auditLog({ organizationId, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <PageHead title={t.audit.title} />
      {log.isPending && <Waiting />}
      <Failure error={log.error} retry={() => void log.refetch()} />
      {log.isSuccess && entries.length === 0 && <Empty text={t.audit.empty} />}
      {entries.length > 0 && <EntryTable entries={entries} />}
      {log.hasNextPage && (
        <Button variant="default" mt="md" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          {t.common.more}
        </Button>
      )}
    </>
  );
}

function EntryTable({ entries }: { entries: Entry[] }) {
  return (
    <Table verticalSpacing="sm" className="cards">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.audit.action}</Table.Th>
          <Table.Th>{t.audit.by}</Table.Th>
          <Table.Th>{t.audit.at}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map((entry) => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function EntryRow({ entry: { action, actorEmail, actorId, impersonatedBy, targetType, targetId, metadata, createdAt } }: { entry: Entry }) {
  const details = { ...(targetId && { [targetType ?? t.audit.target]: targetId }), ...metadata };
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={550} className="foreign">
          {action}
        </Text>
        {Object.keys(details).length > 0 && (
          <details>
            <summary>{t.audit.details}</summary>
            <pre className="foreign raw">{JSON.stringify(details, undefined, 2)}</pre>
          </details>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="sm" className="foreign">
          {actorEmail ?? actorId ?? t.audit.nobody}
        </Text>
        {impersonatedBy && (
          <Text size="sm" c="dimmed">
            {t.audit.impersonated}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Time at={createdAt} />
      </Table.Td>
    </Table.Tr>
  );
}
