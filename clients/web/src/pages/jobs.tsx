import { Button, Checkbox, Group, Stack, Table, Text } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { type JobKind, SheafError } from '@sheaf/client';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { Confirm } from '../components/confirm.tsx';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Filter } from '../components/filter.tsx';
import { JobNumbers, jobNumberHeads } from '../components/job-numbers.tsx';
import { JobState } from '../components/job-state.tsx';
import { KindFilter } from '../components/kind-filter.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Paged } from '../components/paged.tsx';
import { RetryJobs } from '../components/retry-jobs.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { SelectionBar, useSelection } from '../components/selection.tsx';
import { ShortName } from '../components/short-name.tsx';
import { StateMark } from '../components/state-mark.tsx';
import { NextAttempt, TimeCell } from '../components/time.tsx';
import { useDocumentNames } from '../document-names.ts';
import { findRetried, type JobStatus, jobsQuery, type ListedJob, type Live, liveJobs, mayBeRetried } from '../jobs.ts';
import { slugsOf } from '../queries.ts';
import { background, service } from '../service.ts';
import { inWords, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/jobs');

interface Filters {
  status?: JobStatus | undefined;
  kind?: JobKind | undefined;
}

export default function Jobs() {
  const place = route.useRouteContext();
  const { status, kind } = route.useSearch();
  const navigate = useNavigate({ from: '/o/$organization/$workspace/jobs' });
  const narrow = (next: Filters) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const live = liveJobs.use();
  const jobs = useInfiniteQuery(jobsQuery(place, { status, kind }));
  const loaded = jobs.data?.pages.flatMap((page) => page.items) ?? [];
  // A job that was made at the same instant as the last of a page may be shown before the next page brings it.
  const items = [...new Map(loaded.map((job) => [job.id, job])).values()];
  return (
    <>
      <PageHead title={t.nav.pages.jobs}>
        <LiveMark live={live} />
      </PageHead>
      {live.state === 'lost' && <Failure error={live.error} title={t.jobs.lost} retry={live.again} />}
      <Group align="flex-start" gap="sm" mb="sm">
        <Filter label={t.jobs.filterLabel} values={t.jobs.states} value={status} onChange={(next) => narrow({ status: next })} />
        <KindFilter kind={kind} onChange={(next) => narrow({ kind: next })} />
        {status === 'failed' && <RetryAll items={items} />}
      </Group>
      <Paged
        query={jobs}
        isEmpty={items.length === 0}
        empty={status || kind ? <Empty text={t.jobs.emptyFiltered} /> : <Empty title={t.jobs.emptyTitle} text={t.jobs.empty} />}
      >
        <JobTable items={items} />
      </Paged>
    </>
  );
}

function LiveMark({ live }: { live: Live }) {
  const { online } = useNetwork();
  if (live.state === 'lost' || !online) return null;
  return <StateMark tone={live.state === 'live' ? 'good' : 'busy'}>{live.state === 'live' ? t.jobs.live : t.jobs.connecting}</StateMark>;
}

/** Tries the failed jobs again that are shown, but those that have been already. */
function RetryAll({ items }: { items: ListedJob[] }) {
  const place = route.useRouteContext();
  const [retried, setRetried] = useState(new Set<string | undefined>());
  const [asked, setAsked] = useState<ListedJob[]>();
  // Of the retries only those are shown here that have failed, too. The others are looked for before anything is charged.
  const shown = new Set(items.map(({ input }) => input.retryOf));
  const failed = items.filter((job) => mayBeRetried(job) && !shown.has(job.id) && !retried.has(job.id));
  const find = useMutation({
    mutationFn: () => findRetried(place, failed),
    onSuccess: (found) => {
      setRetried(found);
      setAsked(failed.filter(({ id }) => !found.has(id)));
    },
  });
  return (
    <Stack gap="xs" align="flex-end" ml="auto">
      {failed.length >= 2 && (
        <Button size="xs" variant="default" loading={find.isPending} onClick={() => find.mutate()}>
          {t.jobs.retryAll(failed.length)}
        </Button>
      )}
      <Failure error={find.error} />
      {asked?.length === 0 && <Text role="status">{t.jobs.allRetried}</Text>}
      {asked && asked.length > 0 && <RetryJobs jobs={asked} onClose={() => setAsked(undefined)} />}
    </Stack>
  );
}

function JobTable({ items }: { items: ListedJob[] }) {
  const place = route.useRouteContext();
  const documentName = useDocumentNames(place, items);
  const nameOf = ({ documentId, kind }: ListedJob) => {
    if (documentId === null) return kind.startsWith('document.') ? t.jobs.deletedDocument : t.jobs.noDocument;
    return documentName(documentId) ?? '…';
  };
  const { chosen, selected, toggle, clear, all } = useSelection(items.filter(canAct));
  const [asked, setAsked] = useState<'retry' | 'cancel'>();
  const failed = selected.filter(mayBeRetried);
  const queued = selected.filter((job) => job.status === 'queued');
  const cancel = async () => {
    for (const { id } of queued) await background.jobs.cancel({ id }).catch(ignoreConflict);
  };
  const name = (
    <Group gap="sm" wrap="nowrap">
      <span className={items.some(canAct) ? undefined : 'no-choice'}>{all}</span>
      {t.jobs.job}
    </Group>
  );
  return (
    <>
      <Rows heads={[name, t.jobs.state, ...jobNumberHeads, t.jobs.created, { number: t.common.actions }]}>
        {items.map((job) => (
          <JobRow key={job.id} job={job} name={nameOf(job)} isSelected={chosen.has(job.id)} onSelect={toggle} />
        ))}
      </Rows>
      {selected.length > 0 && (
        <SelectionBar
          selected={selected.length}
          actions={[
            ...(failed.length > 0 ? [{ label: t.jobs.retryAll(failed.length), run: () => setAsked('retry') }] : []),
            ...(queued.length > 0 ? [{ label: t.jobs.cancelAll(queued.length), run: () => setAsked('cancel') }] : []),
          ]}
          onClear={clear}
        />
      )}
      {asked === 'retry' && <RetryJobs jobs={failed} onClose={() => setAsked(undefined)} />}
      {asked === 'cancel' && (
        <Confirm
          title={t.jobs.cancelAll(queued.length)}
          text={t.jobs.cancelAllText}
          action={t.jobs.cancelAll(queued.length)}
          task={cancel}
          changes={['jobs']}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

const canAct = (job: ListedJob) => job.status === 'queued' || mayBeRetried(job);

/** A job that began meanwhile goes on. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof SheafError && error.is('CONFLICT'))) throw error;
}

interface JobRowProps {
  job: ListedJob;
  name: string;
  isSelected: boolean;
  onSelect(id: string): void;
}

/** Memoized: only changed rows render again. */
const JobRow = memo(function JobRow({ job, name, isSelected, onSelect }: JobRowProps) {
  const place = route.useRouteContext();
  const kind = t.jobs.kinds[job.kind];
  const { id, status } = job;
  return (
    <Table.Tr>
      <Table.Td className="fills">
        <Stack gap={2}>
          <div className="job-line">
            <Checkbox
              size="xs"
              aria-label={t.common.select(`${kind}, ${name}`)}
              checked={isSelected && canAct(job)}
              onChange={() => onSelect(id)}
              className={canAct(job) ? undefined : 'no-choice'}
            />
            <LinkTo to="/o/$organization/$workspace/jobs/$id" params={{ ...slugsOf(place), id: job.id }} className="name">
              {kind}
            </LinkTo>
            <DocumentName job={job} name={name} />
          </div>
          {job.error && !job.waiting && (
            <Text c="red" className="foreign below-line">
              {inWords(job.error)}
            </Text>
          )}
          {job.nextAttemptAt && job.status === 'queued' && (
            <Text c="dimmed" className="below-line">
              {job.waiting ? t.jobs.waiting[job.waiting] : <NextAttempt at={job.nextAttemptAt} />}
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td>
        <JobState job={job} />
      </Table.Td>
      <JobNumbers job={job} />
      <TimeCell at={job.createdAt} />
      <Table.Td className="number">
        <RowMenu
          name={`${kind}, ${name}`}
          changes={['jobs']}
          actions={[
            mayBeRetried(job) && { label: t.common.retry, run: () => service.jobs.retry({ id }) },
            status === 'queued' && { label: t.common.cancel, run: () => service.jobs.cancel({ id }) },
          ]}
        />
      </Table.Td>
    </Table.Tr>
  );
});

function DocumentName({ job: { documentId }, name }: { job: ListedJob; name: string }) {
  const place = route.useRouteContext();
  if (documentId === null) return <Text c="dimmed">{name}</Text>;
  return (
    <LinkTo
      to="/o/$organization/$workspace/documents/$id"
      params={{ ...slugsOf(place), id: documentId }}
      size="sm"
      aria-label={name}
      className="foreign one-line"
    >
      <ShortName name={name} />
    </LinkTo>
  );
}
