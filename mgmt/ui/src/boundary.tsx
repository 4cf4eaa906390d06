// A part of the page that may fail while it is drawn. The rest of the page works on.
import { Component } from "preact";
import { textOf } from "./api";
import type { Children } from "./kit";

interface Props {
  at?: string; // where the reader is; elsewhere the part is drawn anew
  instead: (text: string, again: () => void) => Children; // what stands there after a failure
  children: Children;
}

interface Caught {
  at?: string;
  text: string;
}

export class Boundary extends Component<Props, { caught?: Caught }> {
  override state: { caught?: Caught } = {};

  override componentDidCatch(e: unknown) {
    console.error(e); // with its stack, for a report
    this.setState({ caught: { at: this.props.at, text: textOf(e) } });
  }

  override render({ at, instead, children }: Props) {
    const { caught } = this.state;
    return caught && caught.at === at ? instead(caught.text, () => this.setState({ caught: undefined })) : children;
  }
}
