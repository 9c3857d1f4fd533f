// Draws points pixel by pixel, where there is no WebGL2 or it is slow.

const FEW = 6000; // points that are drawn as discs with smooth edges

/** For each row of a disc, where it begins and ends. */
function discOf(side) {
  const rows = [];
  for (let down = 0; down < side; down += 1) {
    const off = down + 0.5 - side / 2;
    const half = Math.sqrt(Math.max((side / 2) ** 2 - off ** 2, 0));
    const from = side < 3 ? 0 : Math.round(side / 2 - half);
    rows.push([from, side - from]);
  }
  return rows;
}

export class CanvasPlot {
  constructor(canvas, points) {
    this.pen = canvas.getContext("2d");
    this.canvas = canvas;
    this.points = points;
    this.values = new Uint8Array(points.total);
    this.marks = new Uint8Array(points.total);
    this.palette = new Uint8Array(1024);
    this.image = null;
    this.faint = [128, 128, 128, 77];
  }

  added() {}

  setValues(values) {
    this.values = values;
  }

  setMarks(marks) {
    this.marks = marks;
  }

  setPalette(colours, [red, green, blue]) {
    this.palette = colours;
    this.faint = [red, green, blue, 77];
  }

  /** Sorts what is seen into three layers: faint, coloured, selected. */
  layers(camera, margin, ratio, limit) {
    const { width, height } = this.canvas;
    const scale = (camera.scale * ratio) / 65536;
    const left = width / 2 - camera.x * camera.scale * ratio;
    const top = height / 2 + camera.y * camera.scale * ratio;
    const { places } = this.points;
    const found = [[], [], []];
    for (let point = 0; point < limit; point += 1) {
      const x = left + places[2 * point] * scale;
      const y = top - places[2 * point + 1] * scale;
      if (x < -margin || y < -margin || x > width + margin || y > height + margin) continue;
      const opacity = this.palette[4 * this.values[point] + 3];
      if (!opacity) continue;
      const mark = this.marks[point];
      found[mark === 1 ? 2 : mark === 2 || opacity <= 127 ? 0 : 1].push(point, x, y);
    }
    return found;
  }

  draw(camera, size, ratio, limit) {
    const { width, height } = this.canvas;
    if (!width || !height) return;
    const side = Math.max(1, size * ratio);
    const layers = this.layers(camera, side, ratio, limit);
    const seen = layers.reduce((sum, layer) => sum + layer.length / 3, 0);
    if (seen < FEW && side > 3) this.discs(layers, side);
    else this.blocks(layers, Math.round(side));
  }

  discs(layers, side) {
    const { pen, palette } = this;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (const layer of layers) {
      for (let i = 0; i < layer.length; i += 3) {
        const at = 4 * this.values[layer[i]];
        const isFaint = this.marks[layer[i]] === 2;
        const [red, green, blue, opacity] = isFaint ? this.faint : palette.subarray(at, at + 4);
        pen.fillStyle = `rgb(${red} ${green} ${blue} / ${opacity / 255})`;
        pen.beginPath();
        pen.arc(layer[i + 1], layer[i + 2], side / 2, 0, 2 * Math.PI);
        pen.fill();
      }
    }
  }

  blocks(layers, side) {
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image?.height !== height) this.image = this.pen.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    const packed = new Uint32Array(this.palette.slice().buffer);
    const [faint] = new Uint32Array(Uint8Array.from(this.faint).buffer);
    const rows = discOf(side);
    for (const layer of layers) {
      for (let i = 0; i < layer.length; i += 3) {
        const x = Math.round(layer[i + 1] - side / 2);
        const y = Math.round(layer[i + 2] - side / 2);
        if (x < 0 || y < 0 || x + side > width || y + side > height) continue;
        const colour = this.marks[layer[i]] === 2 ? faint : packed[this.values[layer[i]]];
        for (let down = 0; down < side; down += 1) {
          const start = (y + down) * width + x;
          for (let at = start + rows[down][0]; at < start + rows[down][1]; at += 1) pixels[at] = colour;
        }
      }
    }
    this.pen.putImageData(this.image, 0, 0);
  }

  close() {}
}
