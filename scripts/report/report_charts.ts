/** Draws charts as SVG. Their colours are CSS variables of the page, so they follow its light or dark form. */

import { count } from "../cli/format.ts";

/** Only the report downloads and loads the library: its lock file is `scripts/report/report.lock`. */
const LIBRARY = "npm:echarts@6.1.0/dist/echarts.esm.min.mjs";

/** The used part of the library. */
interface ECharts {
  init(
    element: null,
    theme: null,
    options: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

/** The values of a chart, in the order in which it shows them. */
export type Values = [label: string, ...values: number[]][];

/** Draws vertical bars over time, or horizontal ones with their values. With `names`, each bar is a stack of these. */
export type DrawChart = (
  kind: "vertical" | "horizontal",
  values: Values,
  names?: readonly string[],
) => string;

/** Height in pixels of a horizontal bar, with its space. */
const BAR_HEIGHT = 34;

const LABEL = { color: "var(--text)", fontFamily: "system-ui, sans-serif", fontSize: 13 };

/** Loads the library. Rejects if it is not there and cannot be downloaded. */
export async function loadCharts(): Promise<DrawChart> {
  // Not a literal, because Deno would otherwise look for the package in the lock file of every program.
  const library: ECharts = await import(LIBRARY).catch((cause) => {
    throw new Error("Cannot load the chart library; the first report needs the npm registry", {
      cause,
    });
  });
  return (kind, values, names = [""]) => {
    const isHorizontal = kind === "horizontal";
    const height = isHorizontal ? values.length * BAR_HEIGHT : 200;
    const chart = library.init(null, null, { renderer: "svg", ssr: true, width: 400, height });
    const labels = {
      type: "category",
      data: values.map(([label]) => label),
      axisLine: { lineStyle: { color: "var(--line)" } },
      axisTick: { show: false },
      axisLabel: { ...LABEL, hideOverlap: !isHorizontal, width: 150, overflow: "truncate" },
      inverse: isHorizontal,
    };
    const numbers = {
      type: "value",
      minInterval: 1,
      splitLine: { show: !isHorizontal, lineStyle: { color: "var(--line)" } },
      axisLabel: { ...LABEL, show: !isHorizontal, formatter: count },
    };
    const formatter = ({ value }: { value: number }) => count(value);
    chart.setOption({
      animation: false,
      grid: {
        left: 24,
        right: isHorizontal ? 72 : 36,
        top: names.length > 1 ? 36 : 8,
        bottom: 0,
        containLabel: true,
      },
      legend: {
        show: names.length > 1,
        left: 24,
        top: 0,
        itemGap: 28,
        icon: "rect",
        textStyle: LABEL,
      },
      xAxis: isHorizontal ? numbers : labels,
      yAxis: isHorizontal ? labels : numbers,
      series: names.map((name, index) => ({
        type: "bar",
        name,
        stack: "all",
        barMaxWidth: 48,
        silent: true,
        itemStyle: { color: `var(--series-${index + 1})` },
        label: { ...LABEL, show: isHorizontal, position: "right", textBorderWidth: 0, formatter },
        data: values.map(([, ...stack]) => stack[index]),
      })),
    });
    const svg = chart.renderToSVGString();
    chart.dispose();
    // The sizes and the behaviour under a pointer come from the page.
    return svg.replace(/^<svg width="\d+" height="\d+"/, "<svg")
      .replace(/<style[^]*?<\/style>/g, "");
  };
}
