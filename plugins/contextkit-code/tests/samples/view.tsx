interface Props {
  title: string;
}

/** A titled view. */
export function View({ title }: Props): JSX.Element {
  return <h1>{title}</h1>;
}

export class Board extends React.Component<Props> {
  render() {
    return <View title={this.props.title} />;
  }
}
