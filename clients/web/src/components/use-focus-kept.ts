import { useEffect } from 'react';

/**
 * Puts the focus before the content of the page when what had it is gone, such as a row that was deleted: a browser would begin at the
 * top again with the next Tab. An open dialog keeps it.
 */
export function useFocusKept(): void {
  useEffect(() => {
    let last: EventTarget | null = null;
    const onFocus = ({ target }: FocusEvent) => {
      last = target;
    };
    // No event tells of a removal.
    const observer = new MutationObserver(() => {
      if (!(last instanceof Element) || last.isConnected) return;
      last = null;
      if (document.activeElement !== document.body || document.querySelector('[role=dialog]')) return;
      document.getElementById('content')?.focus({ preventScroll: true });
    });
    addEventListener('focusin', onFocus);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', onFocus);
      observer.disconnect();
    };
  }, []);
}
