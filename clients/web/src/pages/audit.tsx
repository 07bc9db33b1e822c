import { Group, Table, Text } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Empty } from '../components/empty.tsx';
import { Foreign } from '../components/foreign.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { Rows } from '../components/rows.tsx';
import { TaskButton } from '../components/task-button.tsx';
import { TimeCell } from '../components/time.tsx';
import { membersQuery } from '../member-queries.ts';
import { saveCsv } from '../save-csv.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/admins/audit');

type Entry = OutputOf<Contract['organizations']['auditLog']>['entries'][number];

/** What was done in the organization, and by whom. */
export default function Audit() {
  const organizationId = route.useRouteContext().organization.id;
  const { by: actorId, of: targetId } = route.useSearch();
  const filter = { ...(actorId ? { actorId } : {}), ...(targetId ? { targetId } : {}) };
  const isFiltered = Object.keys(filter).length > 0;
  const log = useInfiniteQuery({
    queryKey: ['audit', organizationId, filter],
    queryFn: ({ pageParam, signal }) =>
      service.organizations.auditLog({ organizationId, ...filter, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <PageHead title={t.nav.pages.audit}>
        <TaskButton task={() => download(organizationId, filter)}>{t.audit.download}</TaskButton>
      </PageHead>
      {isFiltered && (
        <Foreign mb="md">
          {t.audit.filtered(actorId && (entries[0]?.actorEmail ?? actorId), targetId)} <FilteredBy>{t.audit.showAll}</FilteredBy>
        </Foreign>
      )}
      <Paged query={log} isEmpty={entries.length === 0} empty={<Empty text={isFiltered ? t.audit.noneFiltered : t.audit.empty} />}>
        <EntryTable entries={entries} organizationId={organizationId} />
      </Paged>
    </>
  );
}

/** The columns of the file, which are fields of an entry. */
const columns = [
  'sequence',
  'createdAt',
  'action',
  'actorId',
  'actorEmail',
  'impersonatedBy',
  'targetType',
  'targetId',
  'metadata',
] as const;

/** Saves the entries that the filter lets through as CSV, the oldest first: all that are kept. */
async function download(organizationId: string, { actorId, targetId }: { actorId?: string; targetId?: string }) {
  const rows = [];
  for (let after = 0; ; ) {
    const { entries, last } = await service.organizations.auditFeed({ organizationId, after });
    if (entries.length === 0) break;
    const wanted = entries.filter((entry) => (!actorId || entry.actorId === actorId) && (!targetId || entry.targetId === targetId));
    rows.push(...wanted);
    after = last;
  }
  saveCsv('audit-log.csv', columns, rows);
}

/** A link to the entries of an actor or about a target; without both, to all. */
function FilteredBy({ by, of, label, children }: { by?: string; of?: string; label?: string; children: string }) {
  return (
    <LinkTo from="/o/$organization/$workspace/audit" to="." search={{ by, of }} aria-label={label} size="sm" className="foreign">
      {children}
    </LinkTo>
  );
}

function EntryTable({ entries, organizationId }: { entries: Entry[]; organizationId: string }) {
  const { data } = useInfiniteQuery(membersQuery(organizationId));
  const members = data?.pages.flatMap((page) => page.members) ?? [];
  const names = new Map<string | null, string>();
  for (const { userId, user } of members) names.set(userId, user.email);
  // An entry has the name of its target where it was given; the others of the same target have its id.
  for (const { actorId, actorEmail, targetId, metadata } of entries) {
    const called = metadata?.name ?? metadata?.email ?? metadata?.url;
    if (actorEmail) names.set(actorId, actorEmail);
    if (called) names.set(targetId, String(called));
  }
  return (
    <Rows heads={[t.audit.action, t.audit.by, t.audit.at]}>
      {entries.map((entry) => (
        <EntryRow key={entry.id} entry={entry} name={nameOf(entry, names)} />
      ))}
    </Rows>
  );
}

/** `document.create` is “Document created”; an action without words stays as it is. */
function sentenceOf(action: string): string {
  const [thing = '', verb = ''] = action.split('.');
  const things: Record<string, string> = t.audit.things;
  const verbs: Record<string, string> = t.audit.verbs;
  return things[thing] && verbs[verb] ? `${things[thing]} ${verbs[verb]}` : action;
}

/** What an entry is about: a job by its kind and its document, a member by who it is. */
function nameOf({ targetId, metadata }: Entry, names: ReadonlyMap<string | null, string>): string | undefined {
  const { kind, documentId, userId } = metadata ?? {};
  const job = (t.jobs.kinds as Record<string, string>)[String(kind)];
  const named = [targetId, documentId, userId].map((id) => names.get(String(id)));
  return [named[0], job, ...named.slice(1)].filter(Boolean).join(', ') || undefined;
}

function EntryRow({ entry, name }: { entry: Entry; name: string | undefined }) {
  const { action, actorEmail, actorId, impersonatedBy, targetType, targetId, metadata, createdAt } = entry;
  const target = `${targetType ?? ''} ${targetId}`;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Foreign fw={550}>{sentenceOf(action)}</Foreign>
          {targetId && (
            <FilteredBy of={targetId} label={[name, target].filter(Boolean).join(' ')}>
              {name ?? targetId}
            </FilteredBy>
          )}
          <details className="aside">
            <summary>{t.audit.details}</summary>
            <pre className="foreign raw">
              {JSON.stringify({ action, ...(targetId && { [targetType ?? 'target']: targetId }), ...metadata }, undefined, 2)}
            </pre>
          </details>
        </Group>
      </Table.Td>
      <Table.Td miw={{ sm: '12rem' }}>
        {actorId ? <FilteredBy by={actorId}>{actorEmail ?? actorId}</FilteredBy> : <Text>{t.audit.nobody}</Text>}
        {impersonatedBy && <Text c="dimmed">{t.audit.impersonated}</Text>}
      </Table.Td>
      <TimeCell at={createdAt} />
    </Table.Tr>
  );
}
