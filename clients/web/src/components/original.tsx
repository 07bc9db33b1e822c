import { Box, Text } from '@mantine/core';
import type { Document } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FromFrame, Box as Part, Passage, ToFrame } from '../original/messages.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { Loaded } from './loaded.tsx';

interface OriginalProps {
  document: Document;
  /** From 1. */
  page: number;
  /** To be marked on the page or the picture. */
  passage: Passage | undefined;
  /** Called with the number of pages, once it is known. */
  onPages: (pages: number) => void;
}

/** Whether a browser shows files of this type. */
export function isShown(contentType: string): boolean {
  return contentType === 'application/pdf' || /^image\/(png|jpeg|webp)$/.test(contentType);
}

/** A document as it was uploaded: a page of a PDF, or a picture. */
export function Original({ document, ...shown }: OriginalProps) {
  if (document.contentType === 'application/pdf') return <Pdf document={document} {...shown} />;
  return <Picture document={document} passage={shown.passage} />;
}

function Picture({ document: { id, version, name }, passage }: { document: Document; passage: Passage | undefined }) {
  const link = useQuery({ queryKey: ['original', id, version], queryFn: () => service.documents.downloadUrl({ id }), staleTime: 240_000 });
  return <Loaded query={link}>{({ url }) => <Marked url={url} alt={t.document.originalOf(name)} boxes={passage?.boxes ?? []} />}</Loaded>;
}

/** A picture with parts of it marked, scrolled to the first. */
function Marked({ url, alt, boxes }: { url: string; alt: string; boxes: Part[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const [first] = boxes;
  const scroll = () => {
    const { current: box } = frame;
    if (box) box.scrollTop = (first?.top ?? 0) * box.scrollHeight - box.clientHeight / 2;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another passage is another place.
  useEffect(scroll, [first?.left, first?.top]);
  return (
    <Box ref={frame} className="original" tabIndex={0} role="region" aria-label={t.document.original}>
      <div className="marked-picture">
        <img src={url} alt={alt} onLoad={scroll} />
        {boxes.map(({ left, top, width, height }) => (
          <mark
            key={`${left} ${top}`}
            title={t.document.passage}
            style={{ left: percent(left), top: percent(top), width: percent(width), height: percent(height) }}
          />
        ))}
      </div>
    </Box>
  );
}

const percent = (share: number) => `${share * 100}%`;

function Pdf({ document: { id, version }, ...shown }: OriginalProps) {
  // Files are large: what is not looked at any more is not kept.
  const queryKey = ['original', id, version];
  const file = useQuery({ queryKey, queryFn: () => readOriginal(id), staleTime: Number.POSITIVE_INFINITY, gcTime: 0 });
  return <Loaded query={file}>{(bytes) => <Frame bytes={bytes} {...shown} />}</Loaded>;
}

async function readOriginal(id: string): Promise<ArrayBuffer> {
  const { url } = await service.documents.downloadUrl({ id });
  const answer = await fetch(url).catch(() => undefined);
  // The browser does not say whether the connection is away or the store refuses pages.
  if (!answer?.ok) throw new Error(t.document.originalUnread);
  return await answer.arrayBuffer();
}

/** The frame that draws a PDF. It has no origin: whatever a file makes it do, it has no session and reaches nothing of the service. */
function Frame({ bytes, page, passage, onPages }: { bytes: ArrayBuffer } & Omit<OriginalProps, 'document'>) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setIsLoaded] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const send = (message: ToFrame) => frame.current?.contentWindow?.postMessage(message, '*');

  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent<FromFrame>) => {
      if (source !== frame.current?.contentWindow) return;
      if ('failed' in data) setHasFailed(true);
      else if (Number.isSafeInteger(data.pages)) onPages(data.pages);
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, [onPages]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `send` is the same each time.
  useEffect(() => {
    if (isLoaded) send({ file: bytes });
  }, [isLoaded, bytes]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file begins with its page, too.
  useEffect(() => {
    if (isLoaded) send({ page, label: t.document.page(page), passage });
  }, [isLoaded, bytes, page, passage?.quote, passage?.before, passage?.boxes.length]);

  if (hasFailed) return <Text role="status">{t.document.originalUnreadable}</Text>;
  return (
    <iframe
      ref={frame}
      src="/original.html"
      sandbox="allow-scripts"
      title={t.document.original}
      className="original"
      onLoad={() => setIsLoaded(true)}
    />
  );
}
