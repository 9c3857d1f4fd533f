// Draws points where there is no WebGL2: pixel by pixel, which a hundred thousand bear.

export class CanvasPlot {
  constructor(canvas, points) {
    this.pen = canvas.getContext("2d");
    this.canvas = canvas;
    this.points = points;
    this.values = new Uint8Array(points.total);
    this.marks = new Uint8Array(points.total);
    this.palette = new Uint8Array(1024);
  }

  added() {}

  setValues(values) {
    this.values = values;
  }

  setMarks(marks) {
    this.marks = marks;
  }

  setPalette(colours) {
    this.palette = colours;
  }

  draw(camera, size, ratio) {
    const { width, height } = this.canvas;
    if (!width || !height) return;
    const image = this.pen.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const packed = new Uint32Array(this.palette.slice().buffer);
    const scale = (camera.scale * ratio) / 65536;
    const left = width / 2 - camera.x * camera.scale * ratio;
    const top = height / 2 + camera.y * camera.scale * ratio;
    const side = Math.max(1, Math.round(size * ratio));
    const { places, count } = this.points;
    for (const pass of [0, 1]) {
      for (let point = 0; point < count; point += 1) {
        const value = this.values[point];
        const opacity = this.palette[4 * value + 3];
        const mark = this.marks[point];
        const isFront = mark === 1 || (opacity > 127 && mark === 0);
        if (!opacity || isFront !== (pass === 1)) continue;
        const x = Math.round(left + places[2 * point] * scale - side / 2);
        const y = Math.round(top - places[2 * point + 1] * scale - side / 2);
        if (x < 0 || y < 0 || x + side >= width || y + side >= height) continue;
        const colour = mark === 2 ? (packed[value] & 0x00ffffff) | 0x30000000 : packed[value];
        for (let down = 0; down < side; down += 1) {
          pixels.fill(colour, (y + down) * width + x, (y + down) * width + x + side);
        }
      }
    }
    this.pen.putImageData(image, 0, 0);
  }

  close() {}
}
