import { Alert, Button, Group, Paper, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { isFinal, sliceCharacters, type Document as Uploaded } from '@sheaf/client';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { DeleteDocuments } from '../components/delete-document.tsx';
import { DocumentJobs } from '../components/document-jobs.tsx';
import { DocumentState } from '../components/document-state.tsx';
import { DocumentText } from '../components/document-text.tsx';
import { Failure } from '../components/failure.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Labels } from '../components/labels.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { Loaded } from '../components/loaded.tsx';
import { isShown, Original } from '../components/original.tsx';
import { PageChoice } from '../components/page-choice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { SaidInFull } from '../components/said-in-full.tsx';
import { Summary } from '../components/summary.tsx';
import { TaskButton } from '../components/task-button.tsx';
import { PaperTitle } from '../components/titles.tsx';
import { UploadList } from '../components/upload-list.tsx';
import type { FormTask } from '../components/use-form-task.ts';
import { useNewVersion, Versions } from '../components/versions.tsx';
import { documentQuery, textQuery } from '../document-queries.ts';
import { isHopeless, jobsQuery, jobsUnderWay } from '../jobs.ts';
import type { Passage } from '../original/messages.ts';
import { jobKindsQuery, queryClient, slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { formatBytes, formatPercent, inWords, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/documents/$id');

const Fields = lazy(() => import('../components/fields.tsx'));

/** A document: what is known of it, what can be done with it, and its text. */
export default function DocumentPage() {
  const { id } = route.useParams();
  return <Loaded query={useQuery(documentQuery(id))}>{(document) => <Known document={document} />}</Loaded>;
}

function Known({ document }: { document: Uploaded }) {
  const place = route.useRouteContext();
  const { data: deployment } = useQuery(jobKindsQuery);
  const { name, size, extracted, chunkCount, failedJob } = document;
  const sure = (extracted?.ocrConfidence ?? []).filter((percent) => percent !== null);
  const facts = [
    formatBytes(size),
    ...(extracted?.pages ? [t.document.pages(extracted.pages)] : []),
    ...(extracted ? [t.document.characters(extracted.characters)] : []),
    ...(chunkCount === null ? [] : [t.document.chunks(chunkCount)]),
    // It can be wrong where it has no doubt.
    ...(sure.length > 0 ? [t.document.sure(formatPercent(Math.min(99, ...sure) / 100))] : []),
  ];
  return (
    <>
      <PageHead title={name}>
        <Actions document={document} />
      </PageHead>
      <Group gap="sm" mb="xs">
        <DocumentState document={document} job={jobsUnderWay.use().get(document.id)} />
        <Text c="dimmed">{facts.join(' · ')}</Text>
      </Group>
      <Labels document={document} />
      <UploadList workspaceId={document.workspaceId} replaces={document.id} />
      {failedJob && (
        <Alert color="red" mb="md" title={t.document.failed((t.jobs.kinds as Record<string, string>)[failedJob.kind] ?? failedJob.kind)}>
          <span className="foreign">{failedJob.error && inWords(failedJob.error)}</span>
        </Alert>
      )}
      {extracted?.notices && (
        <Paper withBorder p="md" mb="md" component="section">
          <PaperTitle>{t.document.notices}</PaperTitle>
          {extracted.notices.map(({ code, text }) => (
            <SaidInFull key={code + text} code={code} message={text} />
          ))}
        </Paper>
      )}
      <Summary place={place} documentId={document.id} />
      {document.status === 'ready' && deployment?.jobKinds.includes('document.extractFields') && (
        <Suspense>
          <Fields place={place} documentId={document.id} />
        </Suspense>
      )}
      <Content document={document} />
      <DocumentJobs place={place} documentId={document.id} />
      <Versions document={document} />
    </>
  );
}

/** Larger originals are read only if they are asked for. */
const readAtOnce = 20_000_000;

/** The text, and beside it the original: on a wide screen at once, otherwise if it is asked for. */
function Content({ document }: { document: Uploaded }) {
  const { original, page: asked = 1, start, end } = route.useSearch();
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents/$id' });
  const [originalPages, setOriginalPages] = useState(0);
  const { extracted, status, contentType } = document;
  const pages = extracted?.pages ?? originalPages;
  // A link may be of an earlier version, which had more pages.
  const page = pages > 0 ? Math.min(asked, pages) : asked;
  const canShow = status === 'ready' && isShown(contentType);
  const isWide = useMediaQuery('(min-width: 88em)', false, { getInitialValueInEffect: false });
  const isOpen = canShow && (original ?? (isWide && document.size <= readAtOnce));
  const passage = usePassage(document, { page, start, end });
  const toggle = () => void navigate({ search: (before) => ({ ...before, original: !isOpen }), replace: true });
  return (
    <>
      <Group mt="xl" mb="sm">
        <Title order={2} size="h4" flex={1}>
          {t.document.text}
        </Title>
        {pages > 1 && <PageChoice page={page} pages={pages} />}
        {canShow && (
          <Button size="xs" variant="default" aria-expanded={isOpen} onClick={toggle}>
            {isOpen ? t.document.hideOriginal : t.document.showOriginal}
          </Button>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, md: isOpen ? 2 : 1 }}>
        <div>
          {extracted ? (
            <DocumentText document={document} extracted={extracted} page={page} start={start} end={end} />
          ) : (
            <Text>{t.document[status === 'pending' ? 'notArrived' : document.failedJob ? 'unread' : 'noText']}</Text>
          )}
        </div>
        {isOpen && <Original document={document} page={page} passage={passage} onPages={setOriginalPages} />}
      </SimpleGrid>
    </>
  );
}

/** The part of a passage that a page has, with the page's text before it; undefined where none is named, and without pages. */
function usePassage(
  { id, extracted }: Uploaded,
  { page, start, end }: { page: number; start?: number | undefined; end?: number | undefined },
): Passage | undefined {
  const isNamed = Boolean(extracted?.pages) && start !== undefined && end !== undefined;
  const readAt = extracted?.at ?? '';
  const place = useQuery({ ...textQuery(id, page, readAt), enabled: isNamed }).data?.page;
  const text = useQuery({ ...textQuery(id, undefined, readAt), enabled: isNamed }).data?.text;
  if (!isNamed || !place || !text) return undefined;
  const from = Math.max(start, place.start);
  const boxes = (place.lines ?? []).filter((line) => line.start < end && line.end > from);
  return {
    boxes,
    before: sliceCharacters(text, { start: place.start, end: from }),
    quote: sliceCharacters(text, { start: from, end: Math.max(from, Math.min(end, place.end)) }),
  };
}

/** What people come for is filled: to make a document searchable, else to have it. The rest is in a menu. */
function Actions({ document }: { document: Uploaded }) {
  const place = route.useRouteContext();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'rename' | 'delete'>();
  const version = useNewVersion(document);
  const onClose = () => setAsked(undefined);
  const { id, name, status, indexedAt, failedJob } = document;
  const start = useMutation({
    mutationFn: (job: { kind: 'document.index'; once: true } | { kind: 'document.summarize' }) =>
      service.jobs.create({ ...job, documentId: id }),
  });
  const { data: jobs } = useInfiniteQuery(jobsQuery(place, { documentId: id }));
  const started = jobs?.pages.flatMap(({ items }) => items).find((job) => job.id === start.data?.id);
  const download = async () => window.location.assign((await service.documents.downloadUrl({ id })).url);
  const onDone = () => void navigate({ to: '/o/$organization/$workspace/documents', params: slugsOf(place) });
  const isReady = status === 'ready';
  const isReadable = isReady && !isHopeless(failedJob?.error);
  return (
    <Stack gap="xs" align="flex-end">
      <Group gap="xs">
        {isReady && (
          <TaskButton task={download} variant={isReadable && !indexedAt ? 'default' : 'filled'}>
            {t.document.download}
          </TaskButton>
        )}
        {isReadable && !indexedAt && (
          <Button size="xs" loading={start.isPending} onClick={() => start.mutate({ kind: 'document.index', once: true })}>
            {t.jobs.kinds['document.index']}
          </Button>
        )}
        {version.field}
        <RowMenu
          name={name}
          actions={[
            isReadable && { label: t.jobs.kinds['document.summarize'], run: () => start.mutate({ kind: 'document.summarize' }) },
            isReady && { label: t.document.newVersion, run: version.choose },
            { label: t.document.rename, run: () => setAsked('rename') },
            { label: t.common.delete, isDangerous: true, run: () => setAsked('delete') },
          ]}
        />
      </Group>
      {start.isSuccess && !(started && isFinal(started)) && (
        <Text role="status">
          {t.document.queued}{' '}
          <LinkTo to="/o/$organization/$workspace/jobs" params={slugsOf(place)} size="sm">
            {t.document.seeJobs}
          </LinkTo>
        </Text>
      )}
      <Failure error={start.error} />
      {asked === 'rename' && <Rename document={document} onClose={onClose} />}
      {asked === 'delete' && <DeleteDocuments documents={[document]} onClose={onClose} onDone={onDone} />}
    </Stack>
  );
}

function Rename({ document: { id, name }, onClose }: { document: Uploaded; onClose: () => void }) {
  const task: FormTask = async (fields) => {
    await service.documents.update({ id, ...fields });
    for (const key of ['document', 'documents']) await queryClient.invalidateQueries({ queryKey: [key] });
    onClose();
  };
  return (
    <FormDialog title={t.workspaces.renameTitle(name)} action={t.common.save} task={task} onClose={onClose}>
      <TextInput label={t.documents.name} name="name" required maxLength={200} defaultValue={name} />
    </FormDialog>
  );
}
